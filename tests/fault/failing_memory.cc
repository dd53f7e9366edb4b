// Loaded before the program (LD_PRELOAD), it lets chosen allocations fail once `main` has begun.
//
//   FAIL_MEMORY=new:N     the Nth operator new throws std::bad_alloc
//   FAIL_MEMORY=malloc:N  the Nth malloc, calloc, realloc or aligned_alloc gives null
//   FAIL_MEMORY=new:N+    … and every later one
//   COUNT_MEMORY=FILE     writes how many there were
#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

using Main = int (*)(int, char**, char**);

enum class Kind { kNew, kMalloc };

Main g_main = nullptr;
Kind g_kind = Kind::kNew;
std::atomic<bool> g_counting{false};
std::atomic<std::uint64_t> g_num_asked{0};
std::uint64_t g_first = UINT64_MAX;
std::uint64_t g_last = UINT64_MAX;

bool refuses(Kind kind) {
  if (kind != g_kind || !g_counting.load(std::memory_order_relaxed)) return false;
  const std::uint64_t number = g_num_asked.fetch_add(1) + 1;
  if (number < g_first || number > g_last) return false;
  errno = ENOMEM;  // as malloc promises; glibc itself relies on it
  return true;
}

void read_plan() {
  const char* const plan = std::getenv("FAIL_MEMORY");
  if (plan == nullptr) return;
  if (std::strncmp(plan, "malloc", 6) == 0) g_kind = Kind::kMalloc;
  const char* const number = std::strchr(plan, ':');
  if (number == nullptr) return;
  char* end = nullptr;
  g_first = std::strtoull(number + 1, &end, 10);
  g_last = *end == '+' ? UINT64_MAX : g_first;
}

int counted_main(int argc, char** argv, char** environment) {
  read_plan();
  const char* const path = std::getenv("COUNT_MEMORY");
  std::FILE* const count = path == nullptr ? nullptr : std::fopen(path, "w");
  g_counting = true;
  const int code = g_main(argc, argv, environment);
  g_counting = false;
  if (count != nullptr) std::fprintf(count, "%llu\n", (unsigned long long)g_num_asked.load());
  if (count != nullptr) std::fclose(count);
  return code;
}

[[noreturn]] void give_up() {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (refuses(Kind::kNew)) give_up();
  void* const at = alignment == 0 ? std::malloc(size == 0 ? 1 : size)
                                  : std::aligned_alloc(
                                        alignment, (size + alignment - 1) / alignment * alignment);
  if (at == nullptr) give_up();
  return at;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}

extern "C" {

void* malloc(std::size_t size) { return refuses(Kind::kMalloc) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return refuses(Kind::kMalloc) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  return refuses(Kind::kMalloc) ? nullptr : __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return refuses(Kind::kMalloc) ? nullptr : __libc_memalign(alignment, size);
}

// The program's entry: everything before `main` is the loader's and the libraries' own.
int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  g_main = main;
  return start(counted_main, argc, argv, init, fini, loader_fini, stack_end);
}
}
