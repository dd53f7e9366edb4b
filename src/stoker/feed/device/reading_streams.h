// The streams whose work reads a batch: its memory may be used again when all of them are done.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "stoker/cuda/stream.h"

namespace stoker::feed {

// A set. The usual few take no memory; any number is kept.
class ReadingStreams {
 public:
  void add(cuda::StreamView stream) {
    if (contains(stream)) return;
    if (num_usual_ < kUsual) {
      usual_[num_usual_++] = stream.handle();
    } else {
      more_.push_back(stream);
    }
  }
  std::size_t size() const { return num_usual_ + more_.size(); }
  cuda::StreamView operator[](std::size_t at) const {
    return at < num_usual_ ? cuda::StreamView(usual_[at]) : more_[at - num_usual_];
  }

 private:
  static constexpr std::size_t kUsual = 4;

  bool contains(cuda::StreamView stream) const {
    const auto end = usual_.begin() + static_cast<std::ptrdiff_t>(num_usual_);
    return std::find(usual_.begin(), end, stream.handle()) != end ||
           std::find(more_.begin(), more_.end(), stream) != more_.end();
  }

  std::array<cuda::StreamHandle, kUsual> usual_{};
  std::size_t num_usual_ = 0;
  std::vector<cuda::StreamView> more_;
};

}  // namespace stoker::feed
