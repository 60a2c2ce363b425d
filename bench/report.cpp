// The tables put the variants of a workload side by side, a line per batch and number of threads, with the ratios that
// matter; a variant that was not measured shows as "-".
#include "bench/report.hpp"

#include <cstdio>
#include <initializer_list>
#include <ostream>

namespace bench {
namespace {

/// The measurements of one workload, batch and number of threads: a line of a table.
class Row {
 public:
  Row(const std::vector<Measurement>& all, const Measurement& like) : all_(all), like_(like) {}

  const Measurement* find(const char* variant) const {
    for (const Measurement& m : all_)
      if (m.workload == like_.workload && m.batch == like_.batch && m.threads == like_.threads && m.variant == variant)
        return &m;
    return nullptr;
  }

  std::string time(const char* variant) const {
    const Measurement* m = find(variant);
    if (m == nullptr) return "-";
    if (m->seconds < 1e-6) return format("%.1f ns", m->seconds * 1e9);
    if (m->seconds < 1e-3) return format("%.2f us", m->seconds * 1e6);
    return format("%.2f ms", m->seconds * 1e3);
  }
  std::string ratio(const char* variant, const char* to) const {
    const Measurement *a = find(variant), *b = find(to);
    return a == nullptr || b == nullptr ? "-" : format("%.2f", a->seconds / b->seconds);
  }
  std::string page_faults(const char* variant) const {
    const Measurement* m = find(variant);
    return m == nullptr ? "-" : format("%.2f", m->page_faults);
  }

 private:
  static std::string format(const char* pattern, double value) {
    char text[32];
    std::snprintf(text, sizeof text, pattern, value);
    return text;
  }

  const std::vector<Measurement>& all_;
  const Measurement& like_;
};

void print_line(std::ostream& out, std::initializer_list<std::string> cells) {
  for (const std::string& cell : cells) {
    constexpr std::size_t width = 13;
    out << std::string(cell.size() < width ? width - cell.size() : 1, ' ') << cell;
  }
  out << '\n';
}

/// f(row, first measurement of it) for every row, in the order measured; the chain is one table, the rest another.
template <class F>
void for_rows(const std::vector<Measurement>& all, bool chain, const F& f) {
  const Measurement* last = nullptr;
  for (const Measurement& m : all) {
    if ((m.workload == "W4") != chain) continue;
    if (last == nullptr || last->workload != m.workload || last->batch != m.batch || last->threads != m.threads)
      f(Row(all, m), m);
    last = &m;
  }
}

}  // namespace

void print_tables(std::ostream& out, const std::vector<Measurement>& all) {
  out << "Per-example gradients, time per call (W1: 4-8-3 classifier, W2: 784-256-10 network)\n\n";
  print_line(out, {"", "", "", "", "", "hand-", "hand-written", "looped /", "batched /", "batched /", "page faults"});
  print_line(out, {"workload", "batch", "threads", "batched", "looped", "written", "op by op", "batched",
                   "hand-written", "op by op", "of batched"});
  for_rows(all, false, [&](const Row& row, const Measurement& m) {
    print_line(out, {m.workload, std::to_string(m.batch), std::to_string(m.threads), row.time("batched"),
                     row.time("looped"), row.time("handwritten"), row.time("handwritten_op_by_op"),
                     row.ratio("looped", "batched"), row.ratio("batched", "handwritten"),
                     row.ratio("batched", "handwritten_op_by_op"), row.page_faults("batched")});
  });

  out << "\nA chain of 1000 operations on 8 floats, time per operation (hand-written: the kernels alone, and with a "
         "lean "
         "tape)\n\n";
  print_line(out, {"", "", "", "", "", "", "forward /", "gradient /", "page faults"});
  print_line(out, {"workload", "threads", "forward", "gradient", "kernels", "lean tape", "kernels", "lean tape",
                   "of gradient"});
  for_rows(all, true, [&](const Row& row, const Measurement& m) {
    print_line(out, {m.workload, std::to_string(m.threads), row.time("forward"), row.time("gradient"),
                     row.time("handwritten"), row.time("handwritten_tape"), row.ratio("forward", "handwritten"),
                     row.ratio("gradient", "handwritten_tape"), row.page_faults("gradient")});
  });
}

void write_json(std::ostream& out, const std::vector<Measurement>& all) {
  const char* separator = "[\n";
  for (const Measurement& m : all) {
    char text[256];
    std::snprintf(text, sizeof text,
                  "  {\"workload\": \"%s\", \"batch\": %d, \"threads\": %d, \"variant\": \"%s\", \"seconds\": %.6e, "
                  "\"page_faults\": %.3f}",
                  m.workload.c_str(), m.batch, m.threads, m.variant.c_str(), m.seconds, m.page_faults);
    out << separator << text;
    separator = ",\n";
  }
  out << (all.empty() ? "[]\n" : "\n]\n");
}

}  // namespace bench
