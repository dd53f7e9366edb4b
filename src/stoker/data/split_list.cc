#include "stoker/data/split_list.h"

#include <fmt/format.h>

#include <utility>

#include "stoker/base/io/paths.h"
#include "stoker/data/errors.h"
#include "stoker/data/rows/line_reader.h"

namespace stoker::data {
namespace {

std::optional<Split> part_named(std::string_view name) {
  if (name == "train") return Split::kTrain;
  if (name == "eval") return Split::kEval;
  if (name == "unused") return Split::kAll;
  return std::nullopt;
}

Error wrong_line(const File& file, const Line& line, std::string found) {
  return {.code = &kMetaSplits,
          .place = {.file = file.path(), .line = line.number},
          .promised = "id|train, id|eval or id|unused, each id once",
          .found = std::move(found)};
}

}  // namespace

Result<std::optional<SplitList>> SplitList::load(const File& folder) {
  const auto there = info_if_present(folder.io(), folder.handle(), kSplitListName);
  if (!there.ok()) return there.error();
  if (!*there) return std::optional<SplitList>();
  auto file = open_beneath(folder, kSplitListName, OpenFor::kRead);
  if (!file.ok()) return std::move(file).error();
  SplitList list;
  LineReader lines(*file);
  Line line;
  for (;;) {
    auto more = lines.next(line);
    if (!more.ok()) return std::move(more).error();
    if (!*more) return std::optional<SplitList>(std::move(list));
    if (line.text.empty()) continue;
    // An id may hold a pipe of its own, a part never does.
    const std::size_t bar = line.text.rfind('|');
    const auto part =
        bar == std::string_view::npos ? std::nullopt : part_named(line.text.substr(bar + 1));
    if (!part || bar == 0)
      return wrong_line(*file, line,
                        fmt::format("\"{}\"", escape_control(line.text.substr(0, 80))));
    if (!list.parts_.emplace(line.text.substr(0, bar), *part).second)
      return wrong_line(
          *file, line,
          fmt::format("\"{}\" again", escape_control(line.text.substr(0, std::min(bar, 80UL)))));
  }
}

Split SplitList::find(std::string_view id) const {
  const auto found = parts_.find(std::string(id));
  return found == parts_.end() ? Split::kAll : found->second;
}

}  // namespace stoker::data
