#include "stoker/base/thread/native_thread.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "stoker/base/invariant.h"

namespace stoker {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

[[noreturn]] void refuse() { throw std::system_error(EAGAIN, std::generic_category()); }

// As large as the C library would make it: `ulimit -s`, or 8 MiB.
std::size_t wanted_bytes() {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) refuse();
  std::size_t bytes = 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

// What the new thread takes over.
struct Start {
  NativeThread::Body body;
  std::stop_token stop;
};

void* run(void* given) noexcept {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  start->body(std::move(start->stop));
  return nullptr;
}

}  // namespace

ThreadStack::ThreadStack(std::size_t size_bytes) : size_bytes_(size_bytes + page_bytes()) {
  void* const at = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) refuse();
  at_ = static_cast<std::byte*>(at);
  if (::mprotect(at_, page_bytes(), PROT_NONE) == 0) return;
  ::munmap(at_, size_bytes_);
  refuse();
}

ThreadStack& ThreadStack::operator=(ThreadStack&& other) noexcept {
  std::swap(at_, other.at_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

ThreadStack::~ThreadStack() {
  // Where the kernel refuses, the addresses stay taken; nothing else depends on it.
  if (at_ != nullptr) ::munmap(at_, size_bytes_);
}

void* ThreadStack::begin() const noexcept { return at_ + page_bytes(); }
std::size_t ThreadStack::size_bytes() const noexcept { return size_bytes_ - page_bytes(); }

NativeThread::NativeThread(Body body) : stack_(wanted_bytes()), stop_() {
  auto start = std::make_unique<Start>(Start{std::move(body), stop_.get_token()});
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) refuse();
  pthread_attr_setstack(&attributes, stack_.begin(), stack_.size_bytes());
  const int error = pthread_create(&handle_, &attributes, &run, start.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category());
  static_cast<void>(start.release());  // the thread owns it now
  joinable_ = true;
}

NativeThread::NativeThread(NativeThread&& other) noexcept
    : stack_(std::move(other.stack_)),
      stop_(std::move(other.stop_)),
      handle_(other.handle_),
      joinable_(std::exchange(other.joinable_, false)) {}

NativeThread& NativeThread::operator=(NativeThread&& other) noexcept {
  check_invariant(!joinable_, "a running thread would be overwritten");
  stack_ = std::move(other.stack_);
  stop_ = std::move(other.stop_);
  handle_ = other.handle_;
  joinable_ = std::exchange(other.joinable_, false);
  return *this;
}

NativeThread::~NativeThread() { check_invariant(!joinable_, "a running thread would be lost"); }

void NativeThread::join() noexcept {
  check_invariant(joinable_, "a thread that does not run was joined");
  pthread_join(handle_, nullptr);
  joinable_ = false;
  stack_ = ThreadStack();
}

}  // namespace stoker
