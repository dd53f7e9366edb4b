// What the engine asks of its user: fill numbered slots, and name what is being worked on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "stoker/base/clock.h"
#include "stoker/pipeline/activity.h"
#include "stoker/pipeline/fill_times.h"
#include "stoker/pipeline/wake_request.h"

namespace stoker::pipeline {

// Sequence numbers count up by one; a slot is memory that is used again.
struct Ticket {
  std::uint64_t sequence = 0;
  std::uint32_t slot = 0;
  bool is_late = false;  // the consumer had to wait for it
};

// Lent to fill(): where to write, and how to say what is going on. Marking costs a few stores.
class FillContext {
 public:
  struct Seat {
    Ticket ticket;
    unsigned worker = 0;  // below max_workers; indexes per-worker scratch. 0 in the caller's thread
    WakeRequest* wake_request = nullptr;  // served at every item
    bool is_caller = false;               // the consumer's thread fills
    FillTimes* times = nullptr;           // where the filler wants them
  };
  FillContext(const Seat& seat, Activity& activity, const Clock& clock, std::stop_token stop)
      : seat_(seat), activity_(activity), clock_(clock), stop_(std::move(stop)) {}

  std::uint64_t sequence() const { return seat_.ticket.sequence; }
  std::uint32_t slot() const { return seat_.ticket.slot; }
  unsigned worker() const { return seat_.worker; }
  bool is_caller() const { return seat_.is_caller; }
  const std::stop_token& stop() const { return stop_; }

  // The work now belongs to this stage (an index into stages()).
  void enter(std::size_t stage) {
    const std::chrono::nanoseconds now = clock_.now();
    activity_.enter(stage, now);
    if (seat_.times != nullptr) seat_.times->enter(stage, now);
  }
  // The work now concerns this item; name_item() turns it into words if something goes wrong.
  void at_item(std::uint64_t item) {
    activity_.at_item(item);
    if (seat_.wake_request != nullptr) seat_.wake_request->serve_if_posted();
  }
  // The same; its time is told apart from that of other items.
  void begin_item(std::uint64_t item) {
    at_item(item);
    if (seat_.times != nullptr) seat_.times->begin_item(item);
  }

 private:
  Seat seat_;
  Activity& activity_;
  const Clock& clock_;
  std::stop_token stop_;
};

enum class FillEnd {
  kFilled,
  kPastEnd,  // there is nothing with this sequence number, nor with any larger one
};

// Called by several workers at once, for different slots.
class SlotFiller {
 public:
  virtual ~SlotFiller() = default;
  // At most kMaxStages names; constant.
  virtual std::span<const std::string_view> stages() const = 0;
  // Writes slot context.slot() as sequence number context.sequence(), from start to end. The result
  // may depend on the sequence number only. An exception ends the run at that number. Looks at
  // context.stop() where it waits.
  virtual FillEnd fill(FillContext& context) = 0;
  // Whether filled() is to be called. Constant.
  virtual bool wants_times() const { return false; }
  // What fill() has just written took this long; in the same thread, before the slot is handed
  // over. Must not throw. Not called where nothing was filled, nor while the pipeline ends.
  virtual void filled(const FillContext&, const FillTimes&) noexcept {}
  // A file name for messages.
  virtual std::string name_item(std::uint64_t item) const = 0;
};

}  // namespace stoker::pipeline
