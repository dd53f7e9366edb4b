// The JSON that chrome://tracing reads, and with it most other viewers: one event a line.
#include <fmt/format.h>

#include <iterator>

#include "stoker/base/json.h"
#include "stoker/observe/trace/trace_encoder.h"

namespace stoker::observe {
namespace {

std::string quoted(std::string_view text) { return Json(text).dump(); }

std::string value_text(const TraceArgument& argument) {
  if (const auto* whole = std::get_if<std::int64_t>(&argument.value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&argument.value)) return Json(*real).dump();
  return quoted(std::get<std::string_view>(argument.value));
}

std::string arguments_text(std::span<const TraceArgument> arguments) {
  std::string text;
  for (const TraceArgument& each : arguments)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", quoted(each.name), value_text(each));
  return "{" + text + "}";
}

// Microseconds, with the nanoseconds behind the point.
std::string micros(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

class ChromeEncoder final : public TraceEncoder {
 public:
  void head(const TraceHead& head) override {
    pid_ = head.pid;
    text_ += fmt::format(
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"begin_monotonic_ns\":{},"
        "\"begin_unix_ns\":{}}},\"traceEvents\":[\n"
        R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"stoker"}}}})",
        head.begin_ns, head.begin_unix_ns, pid_);
  }

  void track(const TraceTrack& track) override {
    if (names_.size() <= track.id) names_.resize(track.id + 1);
    names_[track.id] = quoted(track.name);
    if (track.kind == TrackKind::kCounter) return;
    line(R"("ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}})", pid_, track.id,
         names_[track.id]);
    line(R"("ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}})",
         pid_, track.id, track.id);
  }

  void open(const TraceSlice& slice) override {
    line(R"("ph":"X","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{})", quoted(slice.name),
         pid_, slice.track, micros(slice.begin_ns), micros(slice.end_ns - slice.begin_ns),
         arguments_text(slice.arguments));
    if (slice.part == FlowPart::kNone) return;
    const char phase = slice.part == FlowPart::kBegin ? 's'
                       : slice.part == FlowPart::kEnd ? 'f'
                                                      : 't';
    line(R"("ph":"{}","bp":"e","cat":"batch","name":"batch","id":{},"pid":{},"tid":{},"ts":{})",
         phase, slice.flow, pid_, slice.track, micros(slice.begin_ns));
  }
  void close(const TraceSlice&) override {}  // its length was said when it was opened
  void instant(const TraceSlice& moment) override {
    line(R"("ph":"i","s":"t","name":{},"pid":{},"tid":{},"ts":{},"args":{})", quoted(moment.name),
         pid_, moment.track, micros(moment.begin_ns), arguments_text(moment.arguments));
  }
  void counter(std::uint32_t track, std::int64_t at_ns, double value) override {
    line(R"("ph":"C","name":{},"pid":{},"ts":{},"args":{{"value":{}}})", names_[track], pid_,
         micros(at_ns), Json(value).dump());
  }

  std::string_view ending() const override { return "\n]}\n"; }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> form, Values&&... values) {
    text_ += ",\n{";
    fmt::format_to(std::back_inserter(text_), form, std::forward<Values>(values)...);
    text_ += '}';
  }

  std::int32_t pid_ = 0;
  std::vector<std::string> names_;  // of the tracks, quoted
};

}  // namespace

TraceFormat trace_format_of(std::string_view path) {
  if (path.ends_with(".json")) return TraceFormat::kChrome;
  return path.ends_with(".json.gz") ? TraceFormat::kChromeGzip : TraceFormat::kPerfetto;
}

std::unique_ptr<TraceEncoder> make_chrome_encoder() { return std::make_unique<ChromeEncoder>(); }

}  // namespace stoker::observe
