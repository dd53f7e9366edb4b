// Which rows lie in GPU memory for good (cache tier gpu), and where.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace stoker::feed {

// Rows reach the GPU with the first batch that holds them, so the set fills while batches flow.
// Batches reach the GPU in the order of their sequence numbers: a worker need not read a row that
// an earlier batch brings. Workers call is_before and will_be; places belong to the one thread that
// copies.
class ResidentRows {
 public:
  struct Place {
    std::int64_t begin = -1;  // in samples or frames of the pool; -1: not there
    std::int32_t length = 0;
  };

  explicit ResidentRows(std::size_t num_rows)
      : brought_by_(std::make_unique<std::atomic<std::uint64_t>[]>(num_rows)), places_(num_rows) {
    for (std::size_t row = 0; row < num_rows; ++row) brought_by_[row] = kNever;
  }

  // Whether a batch before `sequence` brings the row or has brought it.
  bool is_before(std::uint32_t row, std::uint64_t sequence) const {
    const std::uint64_t brought = brought_by_[row].load(std::memory_order_acquire);
    return brought == kAlways || brought < sequence;
  }
  // The batch `sequence` has read the row and brings it.
  void will_be(std::uint32_t row, std::uint64_t sequence) {
    std::uint64_t known = brought_by_[row].load(std::memory_order_relaxed);
    while (sequence < known &&
           !brought_by_[row].compare_exchange_weak(known, sequence, std::memory_order_release)) {
    }
  }

  const Place& place(std::uint32_t row) const { return places_[row]; }
  bool is_here(std::uint32_t row) const { return places_[row].begin >= 0; }
  void put(std::uint32_t row, const Place& place) {
    if (!is_here(row)) ++num_here_;
    places_[row] = place;
  }
  std::size_t num_here() const { return num_here_; }

  // Before a new run of sequence numbers, while nobody works: what is here stays.
  void restart() {
    for (std::size_t row = 0; row < places_.size(); ++row) {
      brought_by_[row] = places_[row].begin >= 0 ? kAlways : kNever;
    }
  }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t kAlways = kNever - 1;

  std::unique_ptr<std::atomic<std::uint64_t>[]> brought_by_;
  std::vector<Place> places_;
  std::atomic<std::size_t> num_here_{0};
};

}  // namespace stoker::feed
