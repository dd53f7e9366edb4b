// Batches as a trainer on a GPU gets them: its stream waits for each, and gives it back when it has
// been read.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/event.h"
#include "stoker/observe/batch_source.h"

namespace stoker::observe {

enum class DeviceUse {
  kPassThrough,  // given back at once; a few may be on their way
  kOneAtATime,   // had when the GPU has it whole, given back with the next
};

struct DeviceSourceOptions {
  int device = 0;
  cuda::DeviceApi* api = &cuda::system_device_api();
  DeviceUse use = DeviceUse::kPassThrough;
};

// Host batches are copied over when they are taken, and waited for: what a loader without a ring
// costs. The feed must outlive it.
class DeviceSource final : public BatchSource {
 public:
  DeviceSource(feed::Feed& feed, const DeviceSourceOptions& options);
  ~DeviceSource() override;
  std::optional<TakenBatch> take(const std::stop_token& stop) override;

 private:
  void copy_from_host(const feed::Batch& batch);

  feed::Feed& feed_;
  DeviceSourceOptions options_;
  cuda::Stream stream_;
  std::vector<cuda::Event> passed_;
  std::uint64_t num_taken_ = 0;
  cuda::DeviceBuffer copy_;  // made when the first host batch comes
  std::optional<feed::Batch> held_;
};

}  // namespace stoker::observe
