// One shape for every failure: which rule was broken, where, what was expected and found, and what
// to do.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stoker {

// The process exit codes; a failure carries the one the command ends with.
enum class ExitCode : int {
  kDone = 0,
  kCheckFailed = 1,
  kUsage = 2,
  kData = 3,
  kStorage = 4,
  kMemory = 5,
  kGpu = 6,
  kLockHeld = 7,
};

// One row of docs/reference/errors.md. Each folder declares its codes as constants in an `errors.h`
// and lists them in an array there; tests and scripts compare `name`.
struct ErrorCode {
  std::string_view name;     // "E-WAV-TRUNC"
  ExitCode exit;             // what the process ends with if this ends the run
  std::string_view meaning;  // one sentence for the reference page
  std::string_view cure;     // default help line; may be empty
};

// Where in the user's files; any part may be absent.
struct Place {
  std::string file{};
  std::optional<std::uint64_t> line{};
  std::optional<std::uint64_t> column{};
  std::optional<std::uint64_t> byte{};
};

struct Error {
  const ErrorCode* code = nullptr;
  Place place{};
  std::string promised{};  // "213,000 bytes of samples"; empty: nothing was expected
  std::string found{};     // "106,400 bytes"; without `promised` a sentence of its own
  std::string action{};    // "row rejected"; may be empty
  std::string cure{};      // overrides code->cure when not empty
};

// "error[E-WAV-TRUNC] wavs/a.wav @44: expected 213,000 bytes of samples, found 106,400 bytes; row
// rejected". Control characters in any part are escaped, so the result is always one line.
std::string error_line(const Error& error);

// "help: …", or empty when there is nothing to advise.
std::string help_line(const Error& error);

// Makes text safe for a terminal and a log: control characters and invalid UTF-8 become \xNN.
std::string escape_control(std::string_view text);

// The exception that carries an Error; subclasses let callers catch by kind.
class Failure : public std::runtime_error {
 public:
  explicit Failure(Error error);
  const Error& error() const noexcept { return error_; }
  ExitCode exit_code() const noexcept { return error_.code->exit; }

 private:
  Error error_;
};

class ConfigError : public Failure {
  using Failure::Failure;
};
class DataError : public Failure {
  using Failure::Failure;
};
class StorageError : public Failure {
  using Failure::Failure;
};
class MemoryError : public Failure {
  using Failure::Failure;
};
class GpuError : public Failure {
  using Failure::Failure;
};
class LockError : public Failure {
  using Failure::Failure;
};

// Throws the subclass of Failure that fits error.code->exit.
[[noreturn]] void raise(Error error);

}  // namespace stoker
