#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>

#include "stoker/base/io/paths.h"
#include "stoker/data/errors.h"
#include "stoker/data/rows/row_readers.h"

namespace stoker::data {
namespace {

// "key rest of the line", both without the spaces around them.
struct KeyAndRest {
  std::string_view key;
  std::string_view rest;
};

std::string_view skip_spaces(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

KeyAndRest split_key(std::string_view line) {
  line = skip_spaces(line);
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  std::string_view rest = skip_spaces(line.substr(end));
  while (rest.ends_with(' ') || rest.ends_with('\t')) rest.remove_suffix(1);
  return {line.substr(0, end), rest};
}

using Entries = std::unordered_map<std::string, std::string>;

// A sister file as a map; a key that occurs twice makes the whole folder unclear.
Result<Entries> load_entries(const File& folder, const std::string& name) {
  auto file = open_beneath(folder, name, OpenFor::kRead);
  if (!file.ok()) return std::move(file).error();
  Entries entries;
  LineReader lines(*file);
  Line line;
  for (;;) {
    auto more = lines.next(line);
    if (!more.ok()) return std::move(more).error();
    if (!*more) return entries;
    const KeyAndRest entry = split_key(line.text);
    if (entry.key.empty()) continue;
    if (!entries.emplace(entry.key, entry.rest).second)
      return Error{.code = &kMetaDup,
                   .place = {.file = file->path(), .line = line.number, .byte = line.at_bytes},
                   .promised = "one entry for each key",
                   .found = fmt::format("a second one for \"{}\"", escape_control(entry.key))};
  }
}

Result<Entries> load_if_present(const File& folder, const std::string& name) {
  const auto there = info_if_present(folder.io(), folder.handle(), name);
  if (!there.ok()) return there.error();
  if (!*there) return Entries();
  return load_entries(folder, name);
}

std::optional<double> take_number(std::string_view& text) {
  text = skip_spaces(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

struct Sisters {
  Entries wav_scp;
  Entries segments;
  Entries speakers;
};

Error wrong_entry(const Line& line, std::string promised, std::string found) {
  return {.code = &kMetaEntry,
          .place = {.byte = line.at_bytes},
          .promised = std::move(promised),
          .found = std::move(found)};
}

// Fills in where the utterance's sound is.
std::optional<Error> locate(const Sisters& sisters, const Line& line, Row& row) {
  std::string recording(row.id);
  if (!sisters.segments.empty()) {
    const auto segment = sisters.segments.find(recording);
    if (segment == sisters.segments.end()) return wrong_entry(line, "an entry in segments", "none");
    const KeyAndRest entry = split_key(segment->second);
    std::string_view times = entry.rest;
    const auto start_s = take_number(times);
    const auto end_s = take_number(times);
    if (!start_s || !end_s || !(*end_s > *start_s) || !(*start_s >= 0))
      return wrong_entry(line, "segments: recording start end",
                         "\"" + escape_control(segment->second) + "\"");
    row.offset_s = start_s;
    row.duration_s = *end_s - *start_s;
    recording = entry.key;
  }
  const auto wav = sisters.wav_scp.find(recording);
  if (wav == sisters.wav_scp.end())
    return wrong_entry(line, fmt::format("\"{}\" in wav.scp", escape_control(recording)), "none");
  if (wav->second.ends_with('|'))
    return wrong_entry(line, "a path in wav.scp",
                       "a command, which is never run: " + escape_control(wav->second));
  row.file = wav->second;
  return std::nullopt;
}

void read_kaldi_row(const Line& line, const Sisters& sisters, RowGate& gate) {
  const KeyAndRest entry = split_key(line.text);
  Row row{.id = entry.key,
          .text = entry.rest,
          .raw_text = entry.rest,
          .line = line.number,
          .at_bytes = line.at_bytes};
  if (auto error = locate(sisters, line, row))
    return gate.reject(entry.key, line.number, std::move(*error));
  row.file = without_root(row.file, gate.rules());
  if (const auto speaker = sisters.speakers.find(std::string(entry.key));
      speaker != sisters.speakers.end())
    row.speaker = speaker->second;
  gate.pass(row, {line.at_bytes, line.at_bytes, line.at_bytes});
}

}  // namespace

Result<void> read_kaldi_rows(LineReader& lines, const File& folder, const RowRules& rules,
                             const RowSink& sink) {
  Sisters sisters;
  for (auto [entries, name] :
       {std::pair{&sisters.wav_scp, "wav.scp"}, std::pair{&sisters.segments, "segments"},
        std::pair{&sisters.speakers, "utt2spk"}}) {
    auto loaded = load_if_present(folder, name);
    if (!loaded.ok()) return std::move(loaded).error();
    *entries = std::move(*loaded);
  }
  RowGate gate(rules, sink);
  return for_each_row(lines, gate, [&](const Line& line) -> Result<void> {
    read_kaldi_row(line, sisters, gate);
    return {};
  });
}

}  // namespace stoker::data
