// Lines of a text file of any size, in flat memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker::data {

inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20U;

struct Line {
  std::string_view text;       // without its line end; the first bytes only when too_long
  std::uint64_t number = 0;    // from 1
  std::uint64_t at_bytes = 0;  // of the first byte, in the file
  std::uint64_t size_bytes = 0;
  bool too_long = false;
  bool ends_file = false;  // no line end followed
};

// Ends are LF or CR LF; a byte order mark before the first line is left out. The views live until
// the next call.
class LineReader {
 public:
  explicit LineReader(const File& file);

  // False at the end of the file.
  Result<bool> next(Line& line);

  // Of all bytes of the file; valid once next() gave false.
  Digest128 digest() const noexcept { return digest_.finish(); }

 private:
  Result<bool> fill();
  void take(Line& line, std::size_t size_bytes, std::size_t end_bytes);
  Result<bool> skip_long_line(Line& line);

  const File& file_;
  DigestStream digest_;
  std::vector<char> buffer_;
  std::vector<char> long_start_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t read_bytes_ = 0;  // from the file so far
  std::uint64_t num_lines_ = 0;
};

}  // namespace stoker::data
