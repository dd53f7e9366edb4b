#include "stoker/observe/device_source.h"

namespace stoker::observe {
namespace {

// How far the host runs ahead of its GPU: far enough that waiting for it seldom means sleeping.
constexpr std::uint64_t kAhead = 16;

// Awake: a sleeping wait takes longer to end than a short step takes.
void wait_awake(const cuda::Event& event) {
  while (!event.is_done()) {
  }
}

}  // namespace

DeviceSource::DeviceSource(feed::Feed& feed, const DeviceSourceOptions& options)
    : feed_(feed),
      options_(options),
      stream_(options.device, cuda::StreamPriority::kNormal, *options.api) {
  for (std::uint64_t i = 0; i <= kAhead; ++i) {
    passed_.emplace_back(options.device, cuda::EventUse::kOrder, *options.api);
  }
}

DeviceSource::~DeviceSource() {
  held_.reset();
  stream_.synchronize_quietly();
}

std::optional<TakenBatch> DeviceSource::take(const std::stop_token& stop) {
  if (held_) held_->release(stream_);
  held_ = next_of_any_epoch(feed_, stop);
  if (!held_) return std::nullopt;
  TakenBatch taken = count_batch(*held_);
  if (held_->device().is_cpu()) {
    copy_from_host(*held_);
    return taken;
  }
  cuda::Event& passed = passed_[num_taken_ % passed_.size()];
  held_->wait(stream_);
  passed.record(stream_);
  ++num_taken_;
  if (options_.use == DeviceUse::kOneAtATime) {
    wait_awake(passed);
    return taken;
  }
  held_->release(stream_);
  held_.reset();
  // Asking again and again would take the driver's lock from the thread that feeds.
  if (num_taken_ > kAhead) passed_[(num_taken_ - 1 - kAhead) % passed_.size()].synchronize();
  return taken;
}

void DeviceSource::copy_from_host(const feed::Batch& batch) {
  const feed::MelArray mel = batch.mel();
  const std::span<const std::int32_t> tokens = batch.tokens().values();
  if (copy_.size_bytes() < mel.size_bytes() + tokens.size_bytes()) {
    copy_ = cuda::DeviceBuffer(options_.device, feed_.format().slot_bytes(), *options_.api);
  }
  options_.api->copy({copy_.data(), mel.data, mel.size_bytes(), cuda::CopyKind::kToDevice},
                     stream_.view().handle());
  options_.api->copy({copy_.data() + mel.size_bytes(), tokens.data(), tokens.size_bytes(),
                      cuda::CopyKind::kToDevice},
                     stream_.view().handle());
  stream_.synchronize();
}

}  // namespace stoker::observe
