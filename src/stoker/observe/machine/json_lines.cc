#include "stoker/observe/machine/json_lines.h"

#include <cmath>
#include <stdexcept>
#include <vector>

#include "stoker/base/bytes.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20U;

// Lines of a file that comes in chunks; one longer than a chunk is no line of ours and is left out.
class LineSplitter {
 public:
  explicit LineSplitter(const std::function<void(const Json&)>& take) : take_(take) {}

  void add(std::string_view text) {
    for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      take_line(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    if (rest_.size() + text.size() > kChunkBytes) {
      is_too_long_ = true;
      rest_.clear();
    } else if (!is_too_long_) {
      rest_ += text;
    }
  }
  std::uint64_t num_left_out() const { return num_left_out_ + (is_too_long_ ? 1 : 0); }

 private:
  void take_line(std::string_view end_of_line) {
    rest_ += end_of_line;
    const std::optional<Json> line = is_too_long_ ? std::nullopt : Json::parse(rest_);
    if (line)
      take_(*line);
    else if (!rest_.empty() || is_too_long_)
      ++num_left_out_;
    rest_.clear();
    is_too_long_ = false;
  }

  const std::function<void(const Json&)>& take_;
  std::string rest_;
  bool is_too_long_ = false;
  std::uint64_t num_left_out_ = 0;
};

}  // namespace

Result<std::uint64_t> read_json_lines(Io& io, const std::string& path,
                                      const std::function<void(const Json& line)>& take) {
  Result<File> opened = open_file(io, path, OpenFor::kRead);
  if (!opened) return opened.error();
  const File file = std::move(opened).take_or_raise();
  LineSplitter lines(take);
  std::vector<std::byte> chunk(kChunkBytes);
  for (std::uint64_t at = 0;;) {
    const Result<std::size_t> read = file.read_at(chunk, at);
    if (!read) return read.error();
    if (*read == 0) return lines.num_left_out();
    lines.add(view_text(std::span(chunk).first(*read)));
    at += *read;
  }
}

std::optional<double> number_in(const Json& line, std::string_view key) {
  if (!line.contains(key)) return std::nullopt;
  const Json& member = line.at(key);
  try {
    const double value = member.number();
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  } catch (const std::out_of_range&) {
    const std::string text = member.dump();
    if (text == "true") return 1.0;
    return text == "false" ? std::optional(0.0) : std::nullopt;
  }
}

std::string text_in(const Json& line, std::string_view key) {
  if (!line.contains(key)) return {};
  try {
    return line.at(key).text();
  } catch (const std::out_of_range&) {
    return {};
  }
}

}  // namespace stoker::observe
