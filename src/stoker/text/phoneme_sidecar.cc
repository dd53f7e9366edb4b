#include "stoker/text/phoneme_sidecar.h"

#include <set>

#include "stoker/base/utf8.h"
#include "stoker/text/errors.h"
#include "stoker/text/scan.h"

namespace stoker::text {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view next_line(std::string_view& content) {
  const std::size_t end = std::min(content.find('\n'), content.size());
  std::string_view line = content.substr(0, end);
  content.remove_prefix(std::min(end + 1, content.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Error line_error(const std::string& file, std::uint64_t line, std::string found) {
  return {.code = &kTextPhones,
          .place = {.file = file, .line = line, .column = {}, .byte = {}},
          .promised = "one line id|phones",
          .found = std::move(found),
          .action = {},
          .cure = {}};
}

}  // namespace

Result<PhonemeSidecar> PhonemeSidecar::parse(std::string_view content, const std::string& file) {
  if (content.starts_with(kByteOrderMark)) content.remove_prefix(kByteOrderMark.size());
  PhonemeSidecar sidecar;
  for (std::uint64_t number = 1; !content.empty(); ++number) {
    const std::string_view line = next_line(content);
    if (line.empty()) continue;
    if (find_invalid_utf8(line) != line.size())
      return line_error(file, number, "bytes that are not UTF-8");
    const std::size_t bar = line.find('|');
    if (bar == std::string_view::npos) return line_error(file, number, "no '|'");
    std::string phones(line.substr(bar + 1));
    squeeze_spaces(phones);
    if (bar == 0) return line_error(file, number, "an empty id");
    if (phones.empty()) return line_error(file, number, "no phones");
    const auto [at, is_new] = sidecar.phones_by_id_.emplace(line.substr(0, bar), std::move(phones));
    if (!is_new) return line_error(file, number, "the id " + at->first + " for a second time");
  }
  return sidecar;
}

const std::string* PhonemeSidecar::find(std::string_view id) const {
  const auto at = phones_by_id_.find(id);
  return at == phones_by_id_.end() ? nullptr : &at->second;
}

std::vector<std::string> PhonemeSidecar::symbols() const {
  std::set<std::string, std::less<>> seen;
  for (const auto& [id, phones] : phones_by_id_) {
    for (std::size_t at = 0; at < phones.size();) {
      const std::size_t end = std::min(phones.find(' ', at), phones.size());
      seen.emplace(phones.substr(at, end - at));
      at = end + 1;
    }
  }
  return {seen.begin(), seen.end()};
}

}  // namespace stoker::text
