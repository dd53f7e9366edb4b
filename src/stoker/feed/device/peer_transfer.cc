#include "stoker/feed/device/peer_transfer.h"

#include <utility>

namespace stoker::feed {

PeerTransfer::PeerTransfer(const BatchFormat& format, const DeviceSetup& setup)
    : format_(format),
      setup_(setup),
      ring_(std::make_shared<DeviceRing>(
          format,
          RingOptions{.api = setup.api, .device = *setup.model_device, .num_slots = kNumSlots})),
      out_(setup.data_device, cuda::StreamPriority::kLow, *setup.api),
      in_(*setup.model_device, cuda::StreamPriority::kLow, *setup.api),
      sent_(setup.data_device, cuda::EventUse::kOrder, *setup.api),
      arrived_(*setup.model_device, cuda::EventUse::kOrder, *setup.api) {
  if (setup.link == PeerLink::kStaged) {
    staged_ = cuda::PinnedBuffer(DeviceRing::slot_bytes(format), *setup.api);
  } else {
    setup.api->enable_peer(setup.data_device, *setup.model_device);
  }
}

PeerTransfer::~PeerTransfer() {
  out_.synchronize_quietly();
  in_.synchronize_quietly();
}

// A free slot on the model's device is waited for first: a batch that was taken from the data
// device and finds none would be lost.
DeviceLease PeerTransfer::next(const std::shared_ptr<DeviceRing>& from, const Wait& wait) {
  if (!ahead_) {
    if (!ring_->await_free(wait.stop, wait.patience, wait.pause)) return {};
    const std::optional<std::uint32_t> slot = from->pop_ready(wait.stop, wait.patience, wait.pause);
    if (!slot) return {};
    ahead_ = send({from, *slot});
  }
  DeviceLease batch = std::exchange(ahead_, DeviceLease());
  const bool has_room = ring_->stats().num_leased < kNumSlots;
  if (setup_.ahead == DeviceAhead::kOnDemand || !has_room) return batch;
  if (const std::optional<std::uint32_t> slot = from->try_pop_ready()) ahead_ = send({from, *slot});
  return batch;
}

// Precondition: a slot is free. Empty when a batch could not be given back meanwhile: the next
// call throws why.
DeviceLease PeerTransfer::send(DeviceLease from) {
  const std::optional<std::uint32_t> at = ring_->take_free({});
  if (!at) return {};
  DeviceSlot& to = ring_->slot(*at);
  DeviceSlot& source = from.slot();
  source.ready.hold_back(out_);
  to.hold_back_writer(out_);
  copy(source, to);
  // An event is recorded in streams of its own device only.
  sent_.record(out_);
  sent_.hold_back(in_);
  to.ready.record(in_);
  std::swap(source.host, to.host);
  from.release(out_);
  ring_->push_ready(*at);
  return {ring_, *ring_->try_pop_ready()};
}

void PeerTransfer::copy(const DeviceSlot& from, const DeviceSlot& to) {
  const UploadBlock block(from.host);
  const BatchShape& shape = from.host.shape;
  const std::size_t mel_bytes =
      std::size_t{shape.num_rows} * shape.num_frames * format_.bytes_per_frame();
  // The staging memory is read by the copies of the batch before.
  if (setup_.link == PeerLink::kStaged) arrived_.hold_back(out_);
  staged_at_bytes_ = 0;
  copy_part(to.block, from.block, block.size_bytes);
  copy_part(to.mel, from.mel, mel_bytes);
  const std::size_t extras_bytes = from.host.extra_places.delivered_bytes;
  if (extras_bytes > 0) copy_part(to.extras, from.extras, extras_bytes);
  if (setup_.link == PeerLink::kStaged) arrived_.record(in_);
}

void PeerTransfer::copy_part(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  if (setup_.link == PeerLink::kPeer) {
    setup_.api->copy_to_peer({.to = to,
                              .to_device = *setup_.model_device,
                              .from = from,
                              .from_device = setup_.data_device,
                              .size_bytes = size_bytes},
                             out_.view().handle());
    return;
  }
  std::byte* const between = staged_.data() + staged_at_bytes_;
  staged_at_bytes_ += size_bytes;
  setup_.api->copy({between, from, size_bytes, cuda::CopyKind::kToHost}, out_.view().handle());
  sent_.record(out_);
  sent_.hold_back(in_);
  setup_.api->copy({to, between, size_bytes, cuda::CopyKind::kToDevice}, in_.view().handle());
}

}  // namespace stoker::feed
