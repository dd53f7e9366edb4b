// What a trace is made of (tracks, slices, flows, counters), and the two formats it is written in.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace stoker::observe {

enum class TrackKind : std::uint8_t { kSlices, kCounter };

struct TraceTrack {
  std::uint32_t id = 0;  // from 1 on; also the place among the others
  TrackKind kind = TrackKind::kSlices;
  std::string name{};
};

struct TraceArgument {
  std::string_view name{};  // static text
  std::variant<std::int64_t, double, std::string_view> value{};
};

// Where a slice is on the way of a flow.
enum class FlowPart : std::uint8_t { kNone, kBegin, kThrough, kEnd };

struct TraceSlice {
  std::uint32_t track = 0;
  std::string_view name{};  // static text, one of few
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t flow = 0;
  FlowPart part = FlowPart::kNone;
  std::span<const TraceArgument> arguments{};
};

// Moments of the same process on both clocks.
struct TraceHead {
  std::int32_t pid = 0;
  std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t begin_unix_ns = 0;
};

// Slices of a track are opened in the order of their begins and closed before the one around them.
// One thread.
class TraceEncoder {
 public:
  virtual ~TraceEncoder() = default;
  virtual void head(const TraceHead& head) = 0;  // first
  virtual void track(const TraceTrack& track) = 0;
  virtual void open(const TraceSlice& slice) = 0;
  virtual void close(const TraceSlice& slice) = 0;
  virtual void instant(const TraceSlice& moment) = 0;  // at begin_ns
  virtual void counter(std::uint32_t track, std::int64_t at_ns, double value) = 0;

  // What was written since the last call; whole entries.
  std::string take() { return std::exchange(text_, {}); }
  // What ends a file.
  virtual std::string_view ending() const { return {}; }

 protected:
  std::string text_;
};

enum class TraceFormat : std::uint8_t { kPerfetto, kChrome, kChromeGzip };
// By the suffix: .json and .json.gz are Chrome's, every other one is Perfetto's.
TraceFormat trace_format_of(std::string_view path);

std::unique_ptr<TraceEncoder> make_perfetto_encoder();
std::unique_ptr<TraceEncoder> make_chrome_encoder();

}  // namespace stoker::observe
