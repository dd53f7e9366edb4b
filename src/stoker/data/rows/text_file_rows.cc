#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/bytes.h"
#include "stoker/base/io/paths.h"
#include "stoker/base/number_text.h"
#include "stoker/data/errors.h"
#include "stoker/data/rows/row_readers.h"

namespace stoker::data {
namespace {

constexpr int kMaxDepth = 16;

std::string_view folder_part(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "train-clean-100" is a part of a data set, "trainer" is not.
bool is_part_name(std::string_view folder, std::string_view part) {
  if (!folder.starts_with(part)) return false;
  const std::string_view rest = folder.substr(part.size());
  return rest.empty() || rest.front() == '-' || rest.front() == '_';
}

std::optional<Split> split_of_folder(std::string_view folder) {
  if (is_part_name(folder, "train")) return Split::kTrain;
  for (const std::string_view name : {"dev", "val", "valid", "validation", "eval"})
    if (is_part_name(folder, name)) return Split::kEval;
  if (is_part_name(folder, "test")) return Split::kAll;
  return std::nullopt;
}

// The folder that many levels above the file; empty where there is none.
std::string_view folder_above(std::string_view path, std::size_t levels) {
  if (levels == 0) return {};
  for (std::size_t i = 1; i < levels; ++i) path = folder_part(path);
  return last_part(folder_part(path));
}

// The lines of one text file as one text, without a byte order mark.
void join_lines(std::string& text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  std::erase(text, '\r');
  while (text.ends_with('\n')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
}

std::set<std::string_view> sound_stems(const std::vector<FolderEntry>& entries) {
  std::set<std::string_view> stems;
  for (const FolderEntry& entry : entries)
    if (const auto stem = without_sound_suffix(entry.name); stem.size() < entry.name.size())
      stems.insert(stem);
  return stems;
}

class TextFileReader {
 public:
  TextFileReader(const File& folder, const TextFiles& texts, const RowRules& rules,
                 const RowSink& sink)
      : folder_(folder), texts_(texts), rules_(rules), sink_(sink) {}

  Result<Digest128> read() {
    auto done = read_folder(texts_.folder, 0);
    if (!done.ok()) return done.error();
    return digest_.finish();
  }

 private:
  Result<void> read_folder(const std::string& path, int depth) {
    auto opened = open_beneath(folder_, path.empty() ? "." : path, OpenFor::kFolder);
    if (!opened.ok()) return std::move(opened).error();
    const Result<std::vector<FolderEntry>> entries = list_folder(*opened);
    if (!entries) return entries.error();
    const std::set<std::string_view> stems = sound_stems(*entries);
    for (const FolderEntry& entry : *entries) {
      if (entry.name.starts_with('.')) continue;
      const std::string inside = path.empty() ? entry.name : path + "/" + entry.name;
      if (entry.kind == FileKind::kFolder) {
        if (depth == kMaxDepth) continue;
        if (auto done = read_folder(inside, depth + 1); !done.ok()) return done;
      } else if (entry.name.size() > texts_.suffix.size() && entry.name.ends_with(texts_.suffix)) {
        std::string_view stem = entry.name;
        stem.remove_suffix(texts_.suffix.size());
        if (texts_.speaker_above == 0 && !stems.contains(stem))
          sink_.note("text files without a sound beside them");
        else
          read_file(inside);
      }
    }
    return {};
  }

  void read_file(const std::string& path) {
    RowRules rules = rules_;
    rules.file = folder_.path() + "/" + path;
    RowGate gate(rules, sink_);
    std::string_view stem = path;
    stem.remove_suffix(texts_.suffix.size());
    if (!texts_.folder.empty()) stem.remove_prefix(texts_.folder.size() + 1);
    const std::string_view id = texts_.speaker_above > 0 ? last_part(stem) : stem;
    auto file = open_beneath(folder_, path, OpenFor::kRead);
    if (!file.ok()) return gate.reject(id, 1, std::move(file).error());
    auto bytes = read_whole(*file, kMaxLineBytes);
    if (!bytes.ok()) return gate.reject(id, 1, std::move(bytes).error());
    digest_.add_text(path);
    digest_.add_text(view_text(*bytes));
    std::string text(view_text(*bytes));
    join_lines(text);
    gate.pass({.id = id,
               .text = text,
               .raw_text = text,
               .speaker = folder_above(stem, texts_.speaker_above),
               .split = split_of_folder(stem.substr(0, stem.find('/'))),
               .line = 1},
              {});
  }

  const File& folder_;
  const TextFiles& texts_;
  const RowRules& rules_;
  const RowSink& sink_;
  DigestStream digest_;
};

}  // namespace

Result<Digest128> read_text_file_rows(const File& folder, const TextFiles& texts,
                                      const RowRules& rules, const RowSink& sink) {
  return TextFileReader(folder, texts, rules, sink).read();
}

}  // namespace stoker::data
