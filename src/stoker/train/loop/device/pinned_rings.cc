#include "stoker/train/loop/device/pinned_rings.h"

#include <bit>
#include <utility>

namespace stoker::train {

StagingRing::StagingRing(int device, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) parts_.push_back({{}, cuda::Event(device)});
}

StagingRing::~StagingRing() {
  for (const Part& part : parts_) part.is_read.synchronize_quietly();
}

std::byte* StagingRing::take(std::size_t size_bytes) {
  Part& part = parts_[next_];
  if (!part.is_read.is_done()) part.is_read.synchronize();
  if (part.memory.size_bytes() < size_bytes) {
    part.memory = cuda::PinnedBuffer();
    part.memory = cuda::PinnedBuffer(std::bit_ceil(size_bytes));
  }
  return part.memory.data();
}

void StagingRing::pass_to(cuda::StreamView stream) {
  parts_[next_].is_read.record(stream);
  next_ = (next_ + 1) % parts_.size();
}

FigureRing::FigureRing(int device, std::size_t length) : memory_(length * sizeof(DeviceFigures)) {
  for (std::size_t i = 0; i < length; ++i) is_written_.emplace_back(device);
}

FigureRing::~FigureRing() {
  for (const cuda::Event& event : is_written_) event.synchronize_quietly();
}

DeviceFigures* FigureRing::next() {
  if (submitted_.size() == is_written_.size()) move_first(Learner::Wait::kWait);
  return memory_.as<DeviceFigures>() + next_;
}

void FigureRing::submit(std::uint64_t update, cuda::StreamView stream) {
  is_written_[next_].record(stream);
  submitted_.push_back({update, next_});
  next_ = (next_ + 1) % is_written_.size();
}

bool FigureRing::move_first(Learner::Wait wait) {
  const Submitted first = submitted_.front();
  const cuda::Event& event = is_written_[first.slot];
  if (wait != Learner::Wait::kNo) event.synchronize();
  if (!event.is_done()) return false;
  taken_.push_back(figures_from(memory_.as<DeviceFigures>()[first.slot], first.update));
  submitted_.pop_front();
  return true;
}

std::vector<UpdateFigures> FigureRing::take(Learner::Wait wait) {
  while (!submitted_.empty() && move_first(wait)) {
    if (wait == Learner::Wait::kOldest) wait = Learner::Wait::kNo;
  }
  return std::exchange(taken_, {});
}

void FigureRing::forget() { take(Learner::Wait::kWait); }

UpdateFigures figures_from(const DeviceFigures& figures, std::uint64_t update) {
  const auto seconds = [](std::uint64_t time_ns) { return static_cast<double>(time_ns) * 1e-9; };
  return {.update = update,
          .losses = {figures.losses[0], figures.losses[1], figures.losses[2]},
          .gradient_norm = figures.gradient_norm,
          .is_skipped = figures.is_skipped != 0,
          .compute_s = seconds(figures.busy_ns),
          .began_s = seconds(figures.began_ns),
          .ended_s = seconds(figures.ended_ns)};
}

}  // namespace stoker::train
