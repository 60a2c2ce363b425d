// The workloads and the ways of computing them: by the library for the whole batch at once (`batched`), by the library
// one example at a time (`looped`), and written by hand without it.
//
//     W1  per-example gradients of a 4-8-3 classifier            B = 1, 16, 256, 4096
//     W2  per-example gradients of a 784-256-10 network          B = 64; 52 MB of gradients
//     W4  a chain of 1000 operations on 8 floats                 its value and its gradient
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

/// One array per result; what the variants of a workload are compared by.
using Results = std::vector<std::vector<float>>;

struct Case {
  std::string workload;
  int batch;
  std::string variant;
  /// "gradient" or "value": cases of one workload and batch that compute the same thing must agree.
  std::string computes;
  /// What one run is divided by: the operations of W4, 1 elsewhere.
  int units;
  std::function<void(int threads)> run;
  std::function<Results(int threads)> results;
};

std::vector<Case> make_cases();

/// Runs every case and compares what it computes with the first case that computes the same. Returns a line for each
/// pair that differs by more than 1e-4 of the largest entry.
std::vector<std::string> disagreements(const std::vector<Case>& cases, int threads);

}  // namespace bench
