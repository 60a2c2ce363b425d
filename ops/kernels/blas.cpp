// The thread count guard and the calls of cblas.
#include "ops/kernels/blas.hpp"

#include <cblas.h>
#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <string_view>

namespace tlaloc::inline v0::kernels {
namespace {

constexpr std::int64_t max_step = 0x7fffffff;

/// How many products run, and the thread count to go back to after the last of them.
class ThreadCount {
 public:
  static ThreadCount& instance() {
    static ThreadCount* const count = new ThreadCount;
    return *count;
  }

  void enter() {
    const std::lock_guard lock(mutex_);
    if (running_++ > 0) return;
    restore_to_ = openblas_get_num_threads();
    if (restore_to_ != 1) openblas_set_num_threads(1);
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) restore();
  }

 private:
  // A fork() copies the count but none of the threads that would bring it back to zero; the thread that forks runs no
  // product.
  ThreadCount() {
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] {
                     ThreadCount& count = instance();
                     if (count.running_ > 0) count.restore();
                     count.running_ = 0;
                     count.mutex_.unlock();
                   });
  }

  void restore() {
    if (restore_to_ != 1 && openblas_get_num_threads() == 1) openblas_set_num_threads(restore_to_);
  }

  std::mutex mutex_;
  int running_ = 0;
  int restore_to_ = 1;
};

void call(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float* a, int lda, const float* b, int ldb,
          float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0F, a, lda, b, ldb, beta, c, ldc);
}

void call(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const double* a, int lda, const double* b,
          int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace

SingleThreadedBlas::SingleThreadedBlas() { ThreadCount::instance().enter(); }
SingleThreadedBlas::~SingleThreadedBlas() { ThreadCount::instance().leave(); }

bool blas_has_avx512() {
  static const bool result = [] {
    const std::string_view core = openblas_get_corename();
    return core == "SkylakeX" || core == "Cooperlake" || core == "SapphireRapids";
  }();
  return result;
}

bool blas_takes(std::int64_t rows, std::int64_t cols, std::int64_t row, std::int64_t col) {
  return (col == 1 && row >= cols && row <= max_step) || (row == 1 && col >= rows && col <= max_step);
}

template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t a_row, std::int64_t a_col,
          const T* b, std::int64_t b_row, std::int64_t b_col, T* c, std::int64_t c_row, std::int64_t limit) {
  const bool a_plain = a_col == 1 && a_row >= k, b_plain = b_col == 1 && b_row >= n;
  const std::int64_t row_limit = c_row <= max_step ? limit : 1;
  for (std::int64_t i = 0; i < m; i += row_limit)
    for (std::int64_t j = 0; j < n; j += limit)
      for (std::int64_t p = 0; p < k; p += limit)
        call(a_plain ? CblasNoTrans : CblasTrans, b_plain ? CblasNoTrans : CblasTrans,
             static_cast<int>(std::min(row_limit, m - i)), static_cast<int>(std::min(limit, n - j)),
             static_cast<int>(std::min(limit, k - p)), a + i * a_row + p * a_col,
             static_cast<int>(a_plain ? a_row : a_col), b + p * b_row + j * b_col,
             static_cast<int>(b_plain ? b_row : b_col), p == 0 ? T{0} : T{1}, c + i * c_row + j,
             static_cast<int>(std::min(c_row, max_step)));
}

template void gemm(std::int64_t, std::int64_t, std::int64_t, const float*, std::int64_t, std::int64_t, const float*,
                   std::int64_t, std::int64_t, float*, std::int64_t, std::int64_t);
template void gemm(std::int64_t, std::int64_t, std::int64_t, const double*, std::int64_t, std::int64_t, const double*,
                   std::int64_t, std::int64_t, double*, std::int64_t, std::int64_t);

}  // namespace tlaloc::inline v0::kernels
