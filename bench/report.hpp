// What the benchmarks measured, as a table for people and as JSON for programs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bench {

struct Measurement {
  std::string workload;
  int batch;
  int threads;
  std::string variant;
  /// Per call; per operation for the chain, W4.
  double seconds;
  /// Per call, once everything is warm.
  double page_faults;
};

void print_tables(std::ostream& out, const std::vector<Measurement>& measurements);
void write_json(std::ostream& out, const std::vector<Measurement>& measurements);

}  // namespace bench
