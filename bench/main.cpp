// tlaloc_bench: times the library beside the same computations written by hand, prints a table, and with `--json FILE`
// writes the figures down.
//
// Machines are noisy and change their speed, so every benchmark is repeated many times for a few milliseconds, the
// repetitions of all of them are mixed at random, and the fastest of each counts: the ratios within one run are what
// can be trusted. The flags of Google Benchmark work as ever (`--benchmark_filter=W1/16/`...). Before anything is
// timed, all the ways of computing a workload are compared; if two disagree there is no report.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tlaloc/tlaloc.hpp>

#include "bench/report.hpp"
#include "bench/workloads.hpp"

namespace {

using bench::Case;
using bench::Measurement;

constexpr int thread_counts[] = {1, 2};

double page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_minflt);
}

void measure(benchmark::State& state, const Case& c, int threads) {
  tlaloc::set_num_threads(threads);
  c.run(threads);
  const double before = page_faults();
  for ([[maybe_unused]] auto iteration : state) c.run(threads);
  state.counters["page_faults"] =
      benchmark::Counter((page_faults() - before) / static_cast<double>(state.iterations()));
}

/// Keeps the fastest repetition of each benchmark, and the fewest page faults: the first repetition has to warm up.
class Fastest : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.iterations == 0) continue;
      const double seconds = run.real_accumulated_time / static_cast<double>(run.iterations);
      const double faults = run.counters.at("page_faults").value;
      const auto [at, is_new] = best_.try_emplace(run.run_name.function_name, seconds, faults);
      if (!is_new) at->second = {std::min(at->second.first, seconds), std::min(at->second.second, faults)};
    }
  }

  /// Seconds and page faults, or nothing for a benchmark that did not run.
  const std::pair<double, double>* find(const std::string& name) const {
    const auto at = best_.find(name);
    return at == best_.end() ? nullptr : &at->second;
  }

 private:
  std::map<std::string, std::pair<double, double>> best_;
};

std::string benchmark_name(const Case& c, int threads) {
  return c.workload + '/' + std::to_string(c.batch) + '/' + std::to_string(threads) + '/' + c.variant;
}

/// Takes `--json FILE` out of the arguments; "" when it is not there.
std::string take_json_path(std::vector<char*>& arguments) {
  const auto flag = std::find_if(arguments.begin(), arguments.end(),
                                 [](const char* argument) { return std::string_view(argument) == "--json"; });
  if (flag == arguments.end() || flag + 1 == arguments.end()) return "";
  const std::string path = flag[1];
  arguments.erase(flag, flag + 2);
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  // Our defaults come first, so that what is given on the command line wins.
  std::string interleave = "--benchmark_enable_random_interleaving=true", repetitions = "--benchmark_repetitions=100",
              min_time = "--benchmark_min_time=0.004";
  std::vector<char*> arguments = {argv[0], interleave.data(), repetitions.data(), min_time.data()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  const std::string json_path = take_json_path(arguments);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;

  const std::vector<Case> cases = bench::make_cases();
  bool agree = true;
  for (int threads : thread_counts) {
    tlaloc::set_num_threads(threads);
    for (const std::string& line : bench::disagreements(cases, threads)) {
      std::cerr << line << '\n';
      agree = false;
    }
  }
  if (!agree) return 1;

  for (const Case& c : cases)
    for (int threads : thread_counts)
      benchmark::RegisterBenchmark(benchmark_name(c, threads).c_str(), [&c, threads](benchmark::State& state) {
        measure(state, c, threads);
      })->UseRealTime();
  Fastest reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);

  std::vector<Measurement> measurements;
  for (std::size_t first = 0, last = 0; first < cases.size(); first = last) {
    while (last < cases.size() && cases[last].workload == cases[first].workload &&
           cases[last].batch == cases[first].batch)
      ++last;
    for (int threads : thread_counts)
      for (std::size_t i = first; i < last; ++i)
        if (const auto* best = reporter.find(benchmark_name(cases[i], threads)))
          measurements.push_back({cases[i].workload, cases[i].batch, threads, cases[i].variant,
                                  best->first / cases[i].units, best->second});
  }
  bench::print_tables(std::cout, measurements);
  if (!json_path.empty()) {
    std::ofstream file(json_path);
    bench::write_json(file, measurements);
    if (!file.flush()) {
      std::cerr << "cannot write " << json_path << '\n';
      return 1;
    }
  }
  return 0;
}
