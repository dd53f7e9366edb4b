// TensorBoard's event files, written without TensorBoard: losses, pictures and sound of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/clock.h"
#include "stoker/base/io/io.h"

namespace stoker::train {

struct EventSound {
  std::span<const std::byte> wav;  // a whole file, one channel
  double rate_hz = 0;
  std::uint64_t num_samples = 0;
};

// One file, which only grows; a run that goes on writes a new one beside it and TensorBoard shows
// both as one. Values wait in memory until flush(). One thread calls it.
class EventFile {
 public:
  // A new file events.out.tfevents.<time>.<host>.<process>.<number> in `folder`, which exists.
  static Result<EventFile> create(Io& io, const std::string& folder,
                                  const Clock& clock = system_clock());

  // What earlier files have of `step` and later is no longer shown: a run that was resumed from
  // `step` does those again.
  void resume_at(std::uint64_t step);
  void scalar(std::uint64_t step, std::string_view tag, double value);
  // `png` is a whole file.
  void picture(std::uint64_t step, std::string_view tag, std::span<const std::byte> png);
  void sound(std::uint64_t step, std::string_view tag, const EventSound& sound);

  // Writes what waits. After a failure it is kept and the next flush tries again, unless more than
  // kMostWaitingBytes wait: then it is dropped and counted, so that a full disk costs neither the
  // run nor its memory.
  Result<void> flush();

  static constexpr std::size_t kMostWaitingBytes = std::size_t{16} << 20U;
  std::uint64_t num_dropped() const { return num_dropped_; }  // records
  const std::string& path() const { return file_.path(); }

 private:
  EventFile(File file, const Clock& clock);

  void add_record(std::uint64_t step, std::string_view field);
  void add_summary(std::uint64_t step, std::string_view tag, std::string_view value);

  File file_;
  const Clock* clock_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t num_waiting_ = 0;
  std::uint64_t num_dropped_ = 0;
  std::string waiting_;
};

}  // namespace stoker::train
