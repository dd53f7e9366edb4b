#include "stoker/train/loop/line_file.h"

#include <fcntl.h>

#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/io/paths.h"

namespace stoker::train {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30U;

std::optional<std::uint64_t> step_of(std::string_view line) {
  const std::optional<Json> read = Json::parse(line);
  if (!read) return std::nullopt;
  try {
    return static_cast<std::uint64_t>(read->at("step").number());
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

// Lines come in the order of their steps, so that all that is kept is in front.
std::uint64_t kept_bytes(std::string_view text, std::uint64_t last_step) {
  std::uint64_t kept = 0;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', kept)) {
    const std::optional<std::uint64_t> step = step_of(text.substr(kept, end - kept));
    if (!step || *step > last_step) break;
    kept = end + 1;
  }
  return kept;
}

}  // namespace

LineFile LineFile::open(Io& io, const std::string& path, std::uint64_t last_step) {
  LineFile lines(io, path);
  if (!info_if_present(io, AT_FDCWD, path).take_or_raise()) return lines;
  lines.file_ = open_file(io, path, OpenFor::kReadWrite).take_or_raise();
  if (last_step > 0) {
    const std::vector<std::byte> bytes = read_whole(lines.file_, kMostBytes).take_or_raise();
    lines.size_bytes_ = kept_bytes(view_text(bytes), last_step);
  }
  const SysResult cut = io.truncate(lines.file_.handle(), lines.size_bytes_);
  if (!cut.ok()) raise(io_error("truncate", path, cut.error_number));
  return lines;
}

void LineFile::append(const Json& line) {
  if (!file_.is_open()) file_ = open_file(*io_, path_, OpenFor::kReadWrite).take_or_raise();
  const std::string text = line.dump() + "\n";
  file_.write_at(view_bytes(text), size_bytes_).take_or_raise();
  size_bytes_ += text.size();
}

}  // namespace stoker::train
