// A planted misuse of sync.h: a guarded member read without its lock. clang's thread-safety
// analysis must refuse to compile it; with HOLD_THE_LOCK it is right.
#include "stoker/base/thread/sync.h"

namespace stoker {

class Counter {
 public:
  int value() {
#ifdef HOLD_THE_LOCK
    const Lock lock(mutex_);
#endif
    return value_;
  }

 private:
  Mutex mutex_;
  int value_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker

int main() { return stoker::Counter().value(); }
