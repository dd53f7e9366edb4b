#include "stoker/base/log.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/error.h"
#include "stoker/base/thread/sync.h"
#include "stoker/base/utf8.h"

namespace stoker {
namespace {

constexpr int kNothing = 1 + static_cast<int>(LogLevel::kError);

struct Installed {
  Mutex mutex;
  std::shared_ptr<LogSink> sink STOKER_GUARDED_BY(mutex);
  std::atomic<int> lowest = kNothing;
};

Installed& installed() {
  static Installed state;
  return state;
}

bool log_is_on(LogLevel level) noexcept {
  return static_cast<int>(level) >= installed().lowest.load(std::memory_order_relaxed);
}

std::string text_line(const LogRecord& record) {
  std::string line = fmt::format("{}: {}", log_level_name(record.level), record.message);
  for (std::size_t i = 0; i < record.fields.size(); ++i)
    line +=
        fmt::format("{}{}={}", i == 0 ? " (" : ", ", record.fields[i].name, record.fields[i].value);
  if (!record.fields.empty()) line += ")";
  return escape_control(line);
}

void append_escaped(std::string& out, const Utf8Char& next, std::string_view bytes) {
  if (!next.valid) {
    out += "\xEF\xBF\xBD";
  } else if (next.code_point == '"' || next.code_point == '\\') {
    out += '\\';
    out += bytes;
  } else if (next.code_point == '\n') {
    out += "\\n";
  } else if (next.code_point < 0x20 || next.code_point == 0x7F) {
    out += fmt::format("\\u{:04x}", next.code_point);
  } else {
    out += bytes;
  }
}

// Quoted and escaped; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    append_escaped(out, next, text.substr(0, next.size_bytes));
    text.remove_prefix(next.size_bytes);
  }
  return out + "\"";
}

bool is_json_number(std::string_view text) {
  return text.find_first_not_of("+-.0123456789e") == std::string_view::npos;
}

std::string json_line(const LogRecord& record) {
  std::string line =
      fmt::format(R"({{"time_ns":{},"level":"{}","message":{})", system_clock().unix_time_ns(),
                  log_level_name(record.level), json_string(record.message));
  for (const LogField& field : record.fields) {
    const bool bare = field.is_number && is_json_number(field.value);
    line += fmt::format(",{}:{}", json_string(field.name),
                        bare ? field.value : json_string(field.value));
  }
  return line + "}";
}

}  // namespace

std::string_view log_level_name(LogLevel level) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

void set_log_sink(std::shared_ptr<LogSink> sink, LogLevel lowest) {
  Installed& state = installed();
  const Lock lock(state.mutex);
  state.lowest = sink == nullptr ? kNothing : static_cast<int>(lowest);
  state.sink = std::move(sink);
}

void log(LogLevel level, std::string_view message,
         std::initializer_list<LogField> fields) noexcept {
  if (!log_is_on(level)) return;
  std::shared_ptr<LogSink> sink;
  {
    const Lock lock(installed().mutex);
    sink = installed().sink;
  }
  if (sink != nullptr) sink->write({level, message, {fields.begin(), fields.size()}});
}

std::string render_log(const LogRecord& record, LogFormat format) {
  return format == LogFormat::kJson ? json_line(record) : text_line(record);
}

}  // namespace stoker
