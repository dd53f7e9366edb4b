#include "stoker/feed/device/upload_timer.h"

#include <algorithm>
#include <utility>

namespace stoker::feed {
namespace {

constexpr std::int64_t kBetweenNs = 1'000'000;
constexpr unsigned kMostTimed = 4;  // at once

std::int64_t ns_between(const cuda::Event& begin, const cuda::Event& end) {
  return static_cast<std::int64_t>(1e6 * end.ms_since(begin));
}

}  // namespace

UploadTimer::UploadTimer(const DeviceSetup& setup, RunRecords records)
    : records_(std::move(records)) {
  if (records_.recorder == nullptr) return;
  const auto make = [&] {
    return cuda::Event(setup.data_device, cuda::EventUse::kTiming, *setup.api);
  };
  for (unsigned i = 0; i < kMostTimed; ++i)
    all_.push_back({.marks = {make(), make(), make(), make()}});
}

UploadMarks* UploadTimer::begin(std::uint64_t sequence) {
  if (all_.empty()) return nullptr;
  const std::int64_t now = records_.recorder->now_ns();
  const auto free = std::find_if(all_.begin(), all_.end(), [](auto& each) { return each.is_free; });
  if (now < last_ns_ + kBetweenNs || free == all_.end()) return nullptr;
  last_ns_ = now;
  free->is_free = false;
  free->number = records_.number_of(sequence);
  free->begun_ns = now;
  free->marks.has_kernels = false;
  return &free->marks;
}

void UploadTimer::collect() {
  for (Timed& timed : all_) {
    if (timed.is_free) continue;
    const UploadMarks& marks = timed.marks;
    if (!(marks.has_kernels ? marks.kernel_end : marks.copy_end).is_done()) continue;
    note(timed);
    timed.is_free = true;
  }
}

void UploadTimer::note(const Timed& timed) const {
  const UploadMarks& marks = timed.marks;
  RecordRing& ring = *records_.recorder->ring();
  const std::int64_t now = records_.recorder->now_ns();
  const auto put = [&](RecordStage stage, std::int64_t busy_ns) {
    ring.put_span(timed.number, stage,
                  {timed.begun_ns, std::max(now, timed.begun_ns + busy_ns), busy_ns});
  };
  put(RecordStage::kCopy, ns_between(marks.copy_begin, marks.copy_end));
  if (marks.has_kernels)
    put(RecordStage::kKernel, ns_between(marks.kernel_begin, marks.kernel_end));
}

}  // namespace stoker::feed
