#include "stoker/data/rows/line_reader.h"

#include <cstring>

#include "stoker/base/bytes.h"

namespace stoker::data {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16U;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kLongStartBytes = 4096;

const char* find_line_end(const char* from, std::size_t size_bytes) {
  return static_cast<const char*>(std::memchr(from, '\n', size_bytes));
}

}  // namespace

LineReader::LineReader(const File& file) : file_(file), buffer_(kMaxLineBytes + 2 + kBlockBytes) {}

// Moves what is left to the front and reads one more block behind it; false at the end.
Result<bool> LineReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  // Grows with the longest line met, which kMaxLineBytes bounds.
  if (buffer_.size() - end_ < kBlockBytes) buffer_.resize(buffer_.size() * 2);
  const auto room = std::as_writable_bytes(std::span(buffer_)).subspan(end_);
  auto got = file_.read_at(room.first(kBlockBytes), read_bytes_);
  if (!got.ok()) return std::move(got).error();
  digest_.add(room.first(*got));
  read_bytes_ += *got;
  end_ += *got;
  return *got > 0;
}

void LineReader::take(Line& line, std::size_t size_bytes, std::size_t end_bytes) {
  std::string_view text(buffer_.data() + begin_, size_bytes);
  line.at_bytes = read_bytes_ - (end_ - begin_);
  line.size_bytes = size_bytes;
  line.number = ++num_lines_;
  line.too_long = false;
  line.ends_file = end_bytes == 0;
  if (line.number == 1 && text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
    line.at_bytes += kByteOrderMark.size();
  }
  if (text.ends_with('\r')) text.remove_suffix(1);
  line.text = text;
  begin_ += size_bytes + end_bytes;
}

Result<bool> LineReader::next(Line& line) {
  std::size_t searched = 0;
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const char* end = find_line_end(start + searched, end_ - begin_ - searched);
    if (end != nullptr && static_cast<std::size_t>(end - start) <= kMaxLineBytes + 1) {
      take(line, static_cast<std::size_t>(end - start), 1);
      return true;
    }
    if (end_ - begin_ > kMaxLineBytes + 1) return skip_long_line(line);
    searched = end_ - begin_;
    auto more = fill();
    if (!more.ok()) return std::move(more).error();
    if (*more) continue;
    if (begin_ == end_) return false;
    take(line, end_ - begin_, 0);
    return true;
  }
}

// Keeps only the start of the line, for the message.
Result<bool> LineReader::skip_long_line(Line& line) {
  long_start_.assign(buffer_.data() + begin_, buffer_.data() + begin_ + kLongStartBytes);
  line.at_bytes = read_bytes_ - (end_ - begin_);
  line.number = ++num_lines_;
  line.text = {long_start_.data(), long_start_.size()};
  line.too_long = true;
  line.ends_file = false;
  line.size_bytes = 0;
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const char* end = find_line_end(start, end_ - begin_);
    const std::size_t skipped =
        end == nullptr ? end_ - begin_ : static_cast<std::size_t>(end - start);
    line.size_bytes += skipped;
    begin_ += skipped + (end == nullptr ? 0 : 1);
    if (end != nullptr) return true;
    auto more = fill();
    if (!more.ok()) return std::move(more).error();
    if (!*more) {
      line.ends_file = true;
      return true;
    }
  }
}

}  // namespace stoker::data
