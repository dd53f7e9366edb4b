#include "stoker/feed/device/upload_thread.h"

#include <algorithm>
#include <new>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/pipeline/errors.h"

namespace stoker::feed {
namespace {

// A look is a call to the driver, where it may meet this thread's own copies.
constexpr std::int64_t kBetweenConsumerLooksNs = 10'000'000;

}  // namespace

unsigned UploadThread::most_in_flight(unsigned num_host_slots) {
  return std::clamp(num_host_slots / 3, 1U, kMostInFlight);
}

UploadThread::UploadThread(const UploadThreadParts& parts)
    : parts_(parts), timer_(*parts.setup, parts.records) {
  const DeviceSetup& setup = *parts_.setup;
  if (setup.model_device) peer_transfer_ = std::make_unique<PeerTransfer>(*parts_.format, setup);
  for (unsigned i = 0; i <= most_in_flight(parts_.num_host_slots); ++i) {
    copied_.emplace_back(setup.data_device, cuda::EventUse::kOrder, *setup.api);
  }
  parts_.work->ring()->open();
  thread_ = Thread("feed-device", [this](const std::stop_token& stop) { run(stop); });
}

UploadThread::~UploadThread() { parts_.work->ring()->close(); }

void UploadThread::run(const std::stop_token& stop) {
  DeviceRing& ring = *parts_.work->ring();
  try {
    parts_.setup->api->enter_thread(parts_.setup->data_device);
    move_batches(stop);
    ring.close();
  } catch (const Failure& failure) {
    // Copies that can no longer be waited for may still read slots: no worker may fill them again.
    parts_.pipeline.cancel();
    ring.fail(failure.error());
  } catch (const std::bad_alloc&) {
    parts_.pipeline.cancel();
    ring.fail({.code = &pipeline::kPipeMemory});
  } catch (const std::exception& failure) {
    parts_.pipeline.cancel();
    ring.fail({.code = &pipeline::kPipeWorker, .found = failure.what()});
  }
  parts_.work->finish_copies();
  in_flight_.clear();
}

void UploadThread::move_batches(const std::stop_token& stop) {
  DeviceRing& ring = *parts_.work->ring();
  while (await_demand(stop)) {
    pipeline::SlotLease lease = parts_.pipeline.next(stop);
    if (!lease) return;
    const std::uint64_t sequence = lease.sequence();
    const std::int64_t taken_ns = now_ns();
    const std::optional<std::uint32_t> at = ring.take_free(stop);
    if (!at) return;
    note_wait(sequence, taken_ns);
    note_consumer(sequence);
    cuda::Event& copied = copied_[num_moved_ % copied_.size()];
    BatchSlot& from = parts_.fill->leased_slot(lease.slot());
    // Held from before the first call: one that fails in between leaves a copy in flight.
    in_flight_.push_back({std::move(lease), &copied});
    const Stopwatch launching;
    parts_.work->enqueue(from, ring.slot(*at), copied, timer_.begin(sequence));
    const double launch_s = launching.seconds();
    note_ready(sequence);
    ring.push_ready(*at);
    ++num_moved_;
    const Stopwatch waiting;
    retire(most_in_flight(parts_.num_host_slots));
    timer_.collect();
    count(launch_s, waiting.seconds());
  }
}

std::int64_t UploadThread::now_ns() const {
  return parts_.records.recorder == nullptr ? 0 : parts_.records.recorder->now_ns();
}

void UploadThread::note_wait(std::uint64_t sequence, std::int64_t begun_ns) {
  const RunRecords& records = parts_.records;
  if (records.recorder == nullptr) return;
  const std::int64_t now = now_ns();
  records.recorder->ring()->put_span(records.number_of(sequence), RecordStage::kWaitSlot,
                                     {begun_ns, now, now - begun_ns});
}

void UploadThread::note_ready(std::uint64_t sequence) {
  const RunRecords& records = parts_.records;
  if (records.recorder == nullptr) return;
  records.recorder->ring()->put_ready(records.number_of(sequence), now_ns());
}

// Of two GPUs the ring's readers are copies of ours.
void UploadThread::note_consumer(std::uint64_t sequence) {
  const RunRecords& records = parts_.records;
  if (records.recorder == nullptr || peer_transfer_ != nullptr) return;
  const std::int64_t now = now_ns();
  if (now < next_look_ns_) return;
  next_look_ns_ = now + kBetweenConsumerLooksNs;
  if (const std::optional<bool> works = parts_.work->ring()->is_consumer_working())
    records.recorder->ring()->put_gpu_was_busy(records.number_of(sequence), *works);
}

void UploadThread::count(double launch_s, double copy_wait_s) {
  const Lock lock(mutex_);
  ++stats_.num_moved;
  stats_.launch_s += launch_s;
  stats_.copy_wait_s += copy_wait_s;
}

UploadStats UploadThread::stats() const {
  const Lock lock(mutex_);
  return stats_;
}

// Gives host slots back whose copies are done; waits until at most `most_left` are not.
void UploadThread::retire(std::size_t most_left) {
  while (!in_flight_.empty()) {
    const InFlight& oldest = in_flight_.front();
    if (in_flight_.size() > most_left) {
      oldest.copied->synchronize();
    } else if (!oldest.copied->is_done()) {
      return;
    }
    in_flight_.pop_front();
  }
}

bool UploadThread::await_demand(const std::stop_token& stop) {
  if (parts_.setup->ahead == DeviceAhead::kFilled) return !stop.stop_requested();
  Lock lock(mutex_);
  while (num_asked_ <= num_moved_) {
    if (asked_.wait(lock, stop) == WaitEnd::kStopped) return false;
  }
  return true;
}

DeviceLease UploadThread::next(const std::stop_token& stop, const WaitPause* pause) {
  const std::shared_ptr<DeviceRing>& ring = parts_.work->ring();
  const bool is_on_demand = parts_.setup->ahead == DeviceAhead::kOnDemand;
  if (is_on_demand) {
    const Lock lock(mutex_);
    ++num_asked_;
    asked_.notify_one();
  }
  if (peer_transfer_ != nullptr) return peer_transfer_->next(ring, {stop, parts_.patience, pause});
  const std::optional<std::uint32_t> slot = ring->pop_ready(stop, parts_.patience, pause);
  if (!slot) return {};
  if (is_on_demand) ring->slot(*slot).ready.synchronize();
  return {ring, *slot};
}

}  // namespace stoker::feed
