// In a batch: says when it is given back, at the latest when it is destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace stoker::feed {

class BatchRecorder;

// Movable between threads.
class RecordTicket {
 public:
  RecordTicket() = default;
  RecordTicket(std::shared_ptr<BatchRecorder> recorder, std::uint64_t number)
      : recorder_(std::move(recorder)), number_(number) {}
  RecordTicket(RecordTicket&& other) noexcept
      : recorder_(std::move(other.recorder_)), number_(other.number_) {}
  RecordTicket& operator=(RecordTicket&& other) noexcept {
    if (recorder_ != nullptr) give_back();
    recorder_ = std::move(other.recorder_);
    number_ = other.number_;
    return *this;
  }
  ~RecordTicket() {
    if (recorder_ != nullptr) give_back();
  }

  void give_back() noexcept;

 private:
  std::shared_ptr<BatchRecorder> recorder_;  // null: off, or given back already
  std::uint64_t number_ = 0;
};

}  // namespace stoker::feed
