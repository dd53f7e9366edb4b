#include "stoker/base/error.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "stoker/base/invariant.h"
#include "stoker/base/utf8.h"

namespace stoker {
namespace {

std::string place_text(const Place& place) {
  std::string text = place.file;
  if (place.line) text += fmt::format(":{}", *place.line);
  if (place.line && place.column) text += fmt::format(":{}", *place.column);
  if (place.byte) text += fmt::format(" @{}", *place.byte);
  return text;
}

std::string first_line(const Error& error) {
  check_invariant(error.code != nullptr, "an Error without a code");
  return error_line(error);
}

}  // namespace

void invariant_broken(std::string_view what, const std::source_location& at) {
  std::fprintf(stderr, "bug: %.*s (%s:%u)\n", static_cast<int>(what.size()), what.data(),
               at.file_name(), static_cast<unsigned>(at.line()));
  std::abort();
}

std::string escape_control(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Char next = decode_utf8(text.substr(at));
    const bool printable = next.valid && next.code_point >= 0x20 && next.code_point != 0x7F &&
                           !(next.code_point >= 0x80 && next.code_point < 0xA0);
    if (printable) {
      out += text.substr(at, next.size_bytes);
    } else {
      for (std::size_t i = 0; i < next.size_bytes; ++i)
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at + i]));
    }
    at += next.size_bytes;
  }
  return out;
}

std::string error_line(const Error& error) {
  const std::string place = place_text(error.place);
  std::string line =
      fmt::format("error[{}]{}{}: ", error.code->name, place.empty() ? "" : " ", place);
  if (!error.promised.empty()) {
    line += "expected " + error.promised;
    if (!error.found.empty()) line += ", found ";
  }
  line += error.found;
  if (!error.action.empty()) line += "; " + error.action;
  return escape_control(line);
}

std::string help_line(const Error& error) {
  const std::string_view cure =
      error.cure.empty() ? error.code->cure : std::string_view(error.cure);
  return cure.empty() ? std::string() : escape_control(fmt::format("help: {}", cure));
}

Failure::Failure(Error error) : std::runtime_error(first_line(error)), error_(std::move(error)) {}

void raise(Error error) {
  check_invariant(error.code != nullptr, "an Error without a code");
  switch (error.code->exit) {
    case ExitCode::kUsage:
      throw ConfigError(std::move(error));
    case ExitCode::kData:
      throw DataError(std::move(error));
    case ExitCode::kStorage:
      throw StorageError(std::move(error));
    case ExitCode::kMemory:
      throw MemoryError(std::move(error));
    case ExitCode::kGpu:
      throw GpuError(std::move(error));
    case ExitCode::kLockHeld:
      throw LockError(std::move(error));
    case ExitCode::kDone:
    case ExitCode::kCheckFailed:
      break;
  }
  throw Failure(std::move(error));
}

}  // namespace stoker
