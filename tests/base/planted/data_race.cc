// A planted data race: two threads count without a lock. ThreadSanitizer must refuse it.
#include <thread>

namespace {
int num_steps = 0;

void count() {
  for (int i = 0; i < 1000; ++i) ++num_steps;
}
}  // namespace

int main() {
  std::thread first(count);
  std::thread second(count);
  first.join();
  second.join();
  return num_steps == 0 ? 1 : 0;
}
