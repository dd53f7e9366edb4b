// The seam for messages: the library hands records to a sink that the program installs, and prints
// nothing itself.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

std::string_view log_level_name(LogLevel level) noexcept;  // "debug", "info", "warning", "error"

// One named value beside the message; numbers stay numbers in JSON.
struct LogField {
  LogField(std::string_view field_name, std::string_view text) : name(field_name), value(text) {}
  LogField(std::string_view field_name, const char* text) : name(field_name), value(text) {}
  template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
  LogField(std::string_view field_name, Number number)
      : name(field_name), value(std::to_string(number)), is_number(true) {}

  std::string name;
  std::string value;
  bool is_number = false;
};

struct LogRecord {
  LogLevel level;
  std::string_view message;
  std::span<const LogField> fields;
};

// Thread-safe; must not throw.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(const LogRecord& record) noexcept = 0;
};

// Replaces the sink of the process; null (the state at start) drops every record. The old sink
// lives until the last write to it has ended.
void set_log_sink(std::shared_ptr<LogSink> sink, LogLevel lowest = LogLevel::kInfo);

void log(LogLevel level, std::string_view message,
         std::initializer_list<LogField> fields = {}) noexcept;

enum class LogFormat {
  kText,  // "warning: clip is silent (id=LJ001-0001, peak=0)"
  kJson,  // one object a line: time, level, message and the fields
};

// Control characters are escaped, so a record is one line whatever a file is called.
std::string render_log(const LogRecord& record, LogFormat format);

// Writes lines to stderr, coloured on a terminal; a progress bar standing there is wiped first.
std::shared_ptr<LogSink> make_stderr_sink(LogFormat format = LogFormat::kText);

}  // namespace stoker
