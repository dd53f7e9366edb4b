// Fuzz target: bytes as a metadata file of each layout. Every row that gets through is clean.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/invariant.h"
#include "stoker/base/io/io.h"
#include "stoker/base/utf8.h"
#include "stoker/data/rows/row_check.h"
#include "stoker/data/rows/row_readers.h"

using namespace stoker;
using namespace stoker::data;

namespace {

bool is_valid_utf8(std::string_view text) { return find_invalid_utf8(text) == text.size(); }

void check_row(const Row& row) {
  check_invariant(!row.id.empty() && is_valid_utf8(row.id), "an id that is not UTF-8");
  check_invariant(!check_path(row.id, 0), "an id that leaves the root");
  check_invariant(row.file.empty() || !check_path(row.file, 0), "a path that leaves the root");
  check_invariant(!row.text.empty() && is_valid_utf8(row.text), "a text that is not UTF-8");
  check_invariant(row.text.find('\r') == std::string_view::npos, "a carriage return in a text");
}

void check_reject(std::string_view, std::uint64_t line, const Error& error) {
  check_invariant(error.code != nullptr && line > 0, "a reject without code or line");
  check_invariant(!error.found.empty(), "a reject that does not say what was found");
  check_invariant(error_line(error).find('\n') == std::string::npos, "an error of two lines");
}

// The input as a file, since the readers read files.
File memory_file(std::span<const std::byte> content) {
  static const int handle = ::memfd_create("metadata", MFD_CLOEXEC);
  check_invariant(::ftruncate(handle, 0) == 0, "a memory file");
  File file(system_io(), ::dup(handle), "metadata.csv");
  check_invariant(file.write_at(content, 0).ok(), "a memory file");
  return file;
}

}  // namespace

// The first byte chooses the layout.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  if (size_bytes == 0) return 0;
  const File file = memory_file(std::as_bytes(std::span(data, size_bytes)).subspan(1));
  const RowSink sink{.row = check_row, .reject = check_reject, .note = [](std::string_view) {}};
  RowRules rules{.file = "metadata.csv"};
  LineReader lines(file);
  switch (data[0] % 5) {
    case 0:
      (void)read_pipe_rows(lines, rules, sink);
      break;
    case 1:
      rules.extra_pipes = ExtraPipes::kJoin;
      rules.invisible = InvisibleCharacters::kReject;
      (void)read_pipe_rows(lines, rules, sink);
      break;
    case 2:
      (void)read_table_rows(lines, rules, sink);
      break;
    case 3:
      rules.columns = "audio=a,text=t,offset=o";
      (void)read_table_rows(lines, rules, sink);
      break;
    default:
      (void)read_json_rows(lines, rules, sink);
      break;
  }
  return 0;
}
