#include "stoker/observe/resource_use.h"

#include <charconv>
#include <string>
#include <string_view>

#include "stoker/base/bytes.h"

namespace stoker::observe {
namespace {

std::string read_text(Io& io, const char* path) {
  Result<File> file = open_file(io, path, OpenFor::kRead);
  if (!file) return {};
  std::string text(16 * 1024, '\0');
  const Result<std::size_t> got = file->read_at(std::as_writable_bytes(std::span(text)), 0);
  if (!got) return {};
  text.resize(*got);
  return text;
}

// "RssAnon:     1234 kB" gives 1234 * 1024; 0 where there is no such line.
std::uint64_t value_of(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  const std::size_t digit = text.find_first_of("0123456789", at + name.size());
  if (digit == std::string_view::npos) return 0;
  std::uint64_t kib = 0;
  std::from_chars(text.data() + digit, text.data() + text.size(), kib);
  return kib * 1024;
}

}  // namespace

ProcessMemory process_memory(Io& io) {
  const std::string text = read_text(io, "/proc/self/status");
  return {.anonymous_bytes = value_of(text, "RssAnon:"),
          .shared_bytes = value_of(text, "RssShmem:"),
          .file_bytes = value_of(text, "RssFile:")};
}

std::uint64_t proportional_bytes(Io& io) {
  return value_of(read_text(io, "/proc/self/smaps_rollup"), "\nPss:");
}

}  // namespace stoker::observe
