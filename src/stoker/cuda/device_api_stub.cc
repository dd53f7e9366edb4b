#include <string>

#include "stoker/base/invariant.h"
#include "stoker/cuda/check.h"
#include "stoker/cuda/device_api.h"
#include "stoker/cuda/errors.h"

namespace stoker::cuda {
namespace {

[[noreturn]] void refuse() {
  raise({.code = &kCudaNone, .found = "this stoker is built without CUDA"});
}

// Nothing can be created, so there is nothing to free either.
class NoApi final : public DeviceApi {
 public:
  void enter_thread(int) override { refuse(); }
  void* allocate(int, std::size_t) override { refuse(); }
  void free(int, void*) noexcept override {}
  void* allocate_pinned(std::size_t) override { refuse(); }
  void free_pinned(void*) noexcept override {}
  void lock_pages(const void*, std::size_t) override { refuse(); }
  void unlock_pages(const void*) noexcept override {}
  DeviceRoom room(int) override { refuse(); }
  StreamHandle create_stream(int, StreamPriority) override { refuse(); }
  void destroy_stream(StreamHandle) noexcept override {}
  EventHandle create_event(int, EventUse) override { refuse(); }
  void destroy_event(EventHandle) noexcept override {}
  void record(EventHandle, StreamHandle) override { refuse(); }
  void wait(StreamHandle, EventHandle) override { refuse(); }
  bool is_done(EventHandle) override { refuse(); }
  void synchronize(EventHandle) override { refuse(); }
  void synchronize(StreamHandle) override { refuse(); }
  double elapsed_ms(EventHandle, EventHandle) override { refuse(); }
  void copy(const CopyRequest&, StreamHandle) override { refuse(); }
  void copy_all(std::span<const CopyRequest>, StreamHandle) override { refuse(); }
  void copy_to_peer(const PeerCopyRequest&, StreamHandle) override { refuse(); }
  void fill_bytes(void*, int, std::size_t, StreamHandle) override { refuse(); }
  bool can_reach_peer(int, int) override { refuse(); }
  void enable_peer(int, int) override { refuse(); }
};

}  // namespace

std::string status_text(int status) { return "CUDA status " + std::to_string(status); }

void forget_last_error() noexcept {}

DeviceScope::DeviceScope(int /*device*/) { refuse(); }
DeviceScope::~DeviceScope() { check_invariant(!was_changed_, "a build without CUDA has no GPU"); }

DeviceApi& system_device_api() {
  static NoApi api;
  return api;
}

}  // namespace stoker::cuda
