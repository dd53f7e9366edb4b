#include "stoker/base/out_of_memory.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <new>

namespace stoker {
namespace {

using testing::ExitedWithCode;
using testing::KilledBySignal;

constexpr int kMemoryExit = 5;

void end_by_name() { ::_exit(kMemoryExit); }

void refuse() { throw std::bad_alloc(); }
void fail_otherwise() { throw 1; }
void run_without_throwing(void (*call)()) noexcept { call(); }

struct TestPart;

void set_program_handlers() { OutOfMemoryHandlers<TestPart>::set(end_by_name); }

TEST(OutOfMemoryDeathTest, BadAllocInAFunctionThatMustNotThrowEndsByName) {
  EXPECT_EXIT((set_program_handlers(), run_without_throwing(refuse)), ExitedWithCode(kMemoryExit),
              "");
}

// Program and library share a runtime here: the handlers of one are those before the other's.
TEST(OutOfMemoryDeathTest, AnotherExceptionReachesTheHandlerBeforeOnce) {
  EXPECT_EXIT(
      {
        set_library_out_of_memory(end_by_name);
        set_program_handlers();
        set_program_handlers();
        run_without_throwing(fail_otherwise);
      },
      KilledBySignal(SIGABRT), "terminate called after throwing an instance of 'int'");
}

// A library with a runtime of its own has handlers of its own.
class OwnRuntimeDeathTest : public testing::Test {
 protected:
  void SetUp() override {
#ifdef STOKER_OWN_RUNTIME_LIBRARY
    library_ = dlopen(STOKER_OWN_RUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
#else
    GTEST_SKIP() << "no libstdc++.a, or a sanitizer's build: no library has a runtime of its own";
#endif
  }

  template <class Signature>
  Signature* function(const char* name) const {
    return reinterpret_cast<Signature*>(dlsym(library_, name));
  }
  void set_library_handlers() const {
    function<void(void (*)())>("own_runtime_set_out_of_memory")(end_by_name);
  }
  void call(const char* name) const { function<void()>(name)(); }

 private:
  void* library_ = nullptr;
};

TEST_F(OwnRuntimeDeathTest, HandlersOfTheProgramAloneDoNotReachIt) {
  EXPECT_EXIT((set_program_handlers(), call("own_runtime_throw")), KilledBySignal(SIGABRT), "");
}

TEST_F(OwnRuntimeDeathTest, RefusedAllocationEndsByName) {
  EXPECT_EXIT((set_library_handlers(), call("own_runtime_allocate")), ExitedWithCode(kMemoryExit),
              "");
}

TEST_F(OwnRuntimeDeathTest, BadAllocInAFunctionThatMustNotThrowEndsByName) {
  EXPECT_EXIT((set_library_handlers(), call("own_runtime_throw")), ExitedWithCode(kMemoryExit), "");
}

TEST_F(OwnRuntimeDeathTest, AnotherExceptionIsABug) {
  EXPECT_EXIT((set_library_handlers(), call("own_runtime_throw_other")), KilledBySignal(SIGABRT),
              "");
}

}  // namespace
}  // namespace stoker
