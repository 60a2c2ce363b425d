// Opens a module that uses the library, closes it, and opens it again: the library stays, with its pool and its memory.
//     host MODULE
#include <dlfcn.h>

#include <cstdio>
#include <latch>
#include <thread>

namespace {

using Run = int (*)();

/// 0 when the module could be opened, did its work and could be closed.
int open_run_close(const char* path) {
  // A thread that was there before the library must find room for what the library keeps for it.
  Run run = nullptr;
  int failures = 0;
  std::latch opened(1);
  std::thread early([&] {
    opened.wait();
    if (run != nullptr) failures += run();
  });
  void* const module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr)
    std::fprintf(stderr, "%s\n", dlerror());
  else
    run = reinterpret_cast<Run>(dlsym(module, "run_plugin"));
  opened.count_down();
  early.join();
  if (run == nullptr) return 1;
  failures += run();
  std::thread([&] { failures += run(); }).join();
  return failures + (dlclose(module) != 0 ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int failures = 0;
  for (int i = 0; i < 3; ++i) failures += open_run_close(argv[1]);
  std::thread([&] { failures += open_run_close(argv[1]); }).join();
  if (failures != 0) std::fprintf(stderr, "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
