#include "stoker/data/row_intake.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "stoker/base/errors.h"
#include "stoker/data/errors.h"
#include "stoker/data/rows/row_check.h"
#include "stoker/data/rows/row_readers.h"
#include "stoker/data/sound_check.h"

namespace stoker::data {
namespace {

constexpr std::uint64_t kRowsBetweenStops = 4096;

std::string real_path_of(const File& folder) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.path().c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : std::string();
}

Result<void> read_rows(const MetadataSource& metadata, LineReader& lines, const RowRules& rules,
                       const RowSink& sink) {
  switch (metadata.kind) {
    case LayoutKind::kPipes:
      return read_pipe_rows(lines, rules, sink);
    case LayoutKind::kTable:
      return read_table_rows(lines, rules, sink);
    case LayoutKind::kJson:
      return read_json_rows(lines, rules, sink);
    case LayoutKind::kKaldi:
      return read_kaldi_rows(lines, metadata.folder, rules, sink);
    case LayoutKind::kTextFiles:
      break;  // has no lines: read_text_file_rows
  }
  return {};
}

// A sound folder that is a link out of the data set is common, and easy to allow by name.
Error listing_failure(Error error) {
  if (error.code == &kIoOutside) {
    error.code = &kMetaLink;
    error.cure = "name the folder it points to as audio_root (--audio-root)";
  }
  return error;
}

std::string language_of(const SourceOptions& source, const DataSetRecord& record) {
  if (!source.language.empty()) return source.language;
  return record.language.empty() ? kUsualLanguage : record.language;
}

const ErrorCode& filter_code(RowState state) {
  switch (state) {
    case RowState::kSplit:
      return kFilterSplit;
    case RowState::kSubset:
      return kFilterSubset;
    default:
      return kFilterText;
  }
}

}  // namespace

void CommonFolder::add(std::string_view path) {
  std::string_view folder = path.substr(0, path.find_last_of('/'));
  if (is_empty_) {
    folder_ = folder;
    is_empty_ = false;
    return;
  }
  const auto [ours, theirs] =
      std::mismatch(folder_.begin(), folder_.end(), folder.begin(), folder.end());
  const bool ours_ends = ours == folder_.end();
  const bool theirs_ends = theirs == folder.end();
  if (ours_ends && (theirs_ends || *theirs == '/')) return;
  const auto num_same = static_cast<std::size_t>(ours - folder_.begin());
  if (theirs_ends && *ours == '/')
    folder_.resize(num_same);
  else
    folder_.resize(std::min(folder_.size(), folder_.find_last_of('/', num_same)));
}

struct RowIntake::Reading {
  const MetadataSource& metadata;
  std::uint32_t number;
  std::string prefix;  // of ids; empty with a single source
  std::string language;
  SpeakerRule recorded_speakers;  // by the pattern that the data set records
  std::optional<SoundListing> listing;
  std::optional<SplitList> splits;  // where the data set lists its parts
  std::size_t num_before = 0;       // rows of earlier files
};

RowIntake::RowIntake(const IndexOptions& options, Account& account, std::stop_token stop)
    : options_(options),
      account_(account),
      stop_(std::move(stop)),
      speaker_rule_(options.speakers.id_pattern) {}

Result<Digest128> RowIntake::read(const MetadataSource& metadata, const SourceOptions& source,
                                  const DataSetRecord& record, std::uint32_t number) {
  Reading reading{
      .metadata = metadata,
      .number = number,
      .prefix = options_.sources.size() > 1 ? metadata.name + "/" : std::string(),
      .language = language_of(source, record),
      .recorded_speakers = SpeakerRule(record.speaker_id_pattern,
                                       metadata.folder.path() + "/" + std::string(kRecordName)),
      .listing = {},
      .splits = {},
      .num_before = rows_.utterances.size()};
  if (needs_splits() && metadata.role == Split::kAll) {
    auto splits = SplitList::load(metadata.folder);
    if (!splits.ok()) return std::move(splits).error();
    reading.splits = std::move(*splits);
    if (reading.splits) account_.note("parts from splits.txt");
  }
  if (options_.check != FileCheck::kNone && metadata.find_by != FindBy::kPath) {
    auto listing = SoundListing::open(metadata.root, metadata.sound);
    if (!listing.ok()) return listing_failure(std::move(listing).error());
    reading.listing = std::move(*listing);
  }
  const RowRules rules{.file = metadata.metadata.path(),
                       .extra_pipes = options_.extra_pipes,
                       .invisible = options_.invisible,
                       .columns = source.columns,
                       .root = real_path_of(metadata.root),
                       .named_root = metadata.root.path()};
  if (metadata.kind == LayoutKind::kTextFiles)
    return read_text_file_rows(metadata.folder, metadata.texts, rules, sink_for(reading));
  LineReader lines(metadata.metadata);
  auto done = read_rows(metadata, lines, rules, sink_for(reading));
  if (!done.ok()) return done.error();
  return lines.digest();
}

RowSink RowIntake::sink_for(Reading& reading) {
  return {.row = [this, &reading](const Row& row) { take_row(row, reading); },
          .reject =
              [this, &reading](std::string_view id, std::uint64_t line, Error error) {
                account_.add_row();
                account_.reject({.id = std::string(id.substr(0, kMaxIdBytes)),
                                 .line = line,
                                 .source = reading.number,
                                 .error = std::move(error)});
              },
          .note = [this](std::string_view rule) { account_.note(rule); },
          .outside = [this](std::string_view path) { outside_folder_.add(path); }};
}

void RowIntake::reject(const Row& row, const Reading& reading, Error error) {
  account_.reject({.id = std::string(row.id),
                   .line = row.line,
                   .source = reading.number,
                   .error = std::move(error)});
}

void RowIntake::take_row(const Row& row, Reading& reading) {
  account_.add_row();
  if (account_.counts().rows % kRowsBetweenStops == 0 && stop_.stop_requested())
    raise({.code = &kDataStopped, .found = "asked to stop while reading rows"});
  id_scratch_ = reading.prefix;
  id_scratch_ += row.id;
  if (is_duplicate(id_scratch_, row, reading)) return;
  const RowState state = state_of(row, reading);
  file_scratch_.clear();
  if (state == RowState::kAccepted && !find_file(row, reading)) return;
  const auto index = static_cast<std::uint32_t>(rows_.utterances.size());
  ids_.add_last(index);
  const bool is_segment = row.offset_s || row.duration_s;
  rows_.utterances.append({.id = id_scratch_,
                           .text = row.text,
                           .raw_text = row.raw_text,
                           .file = file_scratch_,
                           .speaker = rows_.speakers.number_of(speaker_of(row, reading)),
                           .language = rows_.languages.number_of(
                               row.language.empty() ? reading.language : row.language),
                           .source = reading.number,
                           .line = row.line,
                           .is_segment = is_segment});
  rows_.state.push_back(state);
  if (is_segment) rows_.segments.push_back({index, row.offset_s.value_or(0), row.duration_s});
  if (state != RowState::kAccepted) account_.filter(filter_code(state));
}

// Same text: the first row stays. Another text: nobody knows which is spoken, so none stays.
bool RowIntake::is_duplicate(std::string_view id, const Row& row, const Reading& reading) {
  const auto known = ids_.find(id, [&](std::uint32_t r) { return rows_.utterances[r].id; });
  if (!known) return false;
  const Utterance first = rows_.utterances[*known];
  const bool same_text = first.text == row.text;
  if (same_text && reading.metadata.gives_way && *known < reading.num_before) {
    account_.filter(kFilterSplit);
    return true;
  }
  const ErrorCode& code = same_text ? kMetaDup : kMetaDupText;
  const auto error_at = [&](std::uint64_t line) {
    return Error{.code = &code,
                 .place = {.file = reading.metadata.metadata.path(), .line = line},
                 .promised = "one row for each id",
                 .found = fmt::format("\"{}\" on lines {} and {}", escape_control(first.id),
                                      first.line, row.line)};
  };
  Error error = error_at(row.line);
  error.place.byte = row.at_bytes;
  reject(row, reading, std::move(error));
  RowState& state = rows_.state[*known];
  if (same_text || state == RowState::kRejected) return true;
  if (state != RowState::kAccepted) account_.unfilter(filter_code(state));
  account_.reject({.id = std::string(first.id),
                   .line = first.line,
                   .source = first.source,
                   .error = error_at(first.line)});
  state = RowState::kRejected;
  return true;
}

// Leaves the file's path in file_scratch_; false when the row was rejected.
bool RowIntake::find_file(const Row& row, Reading& reading) {
  const std::string_view wanted = row.file.empty() ? row.id : row.file;
  if (!reading.listing) {
    file_scratch_ = row.file;
    if (row.file.empty())
      file_scratch_ = fmt::format("{}{}{}.wav", reading.metadata.sound,
                                  reading.metadata.sound.empty() ? "" : "/", row.id);
    return true;
  }
  const ListedSound* sound = reading.listing->find(wanted);
  if (sound == nullptr) {
    reject(row, reading,
           missing_sound(reading.metadata, wanted, reading.listing->other_form(wanted)));
    return false;
  }
  const std::string path = reading.metadata.root.path() + "/" + sound->path;
  if (auto error = unusable_kind(path, sound->kind, options_.links)) {
    reject(row, reading, std::move(*error));
    return false;
  }
  if (sound->ambiguous)
    account_.warn({.id = std::string(row.id),
                   .line = row.line,
                   .source = reading.number,
                   .error = {.code = &kMetaTwoFiles,
                             .place = {.file = path},
                             .promised = "one file for each id",
                             .found = "several; this one is used"}});
  file_scratch_ = sound->path;
  return true;
}

bool RowIntake::needs_splits() const {
  const SplitOptions& splits = options_.splits;
  return splits.split != Split::kAll || splits.train_subset_fraction < 1.0 ||
         splits.eval_subset_fraction < 1.0;
}

// What the data set says of its parts counts before what is drawn.
Split RowIntake::split_of_row(const Row& row, const Reading& reading) const {
  if (reading.metadata.role != Split::kAll) return reading.metadata.role;
  if (reading.splits) return reading.splits->find(row.id);
  return row.split ? *row.split : split_of(row.id, options_.splits);
}

// The views are of the row, or constant.
std::string_view RowIntake::speaker_of(const Row& row, const Reading& reading) const {
  if (options_.speakers.from == SpeakerSource::kOne) return kOnlySpeaker;
  if (!row.speaker.empty()) return row.speaker;
  if (const auto asked = speaker_rule_.matched(row.id)) return *asked;
  if (const auto recorded = reading.recorded_speakers.matched(row.id)) return *recorded;
  return options_.speakers.from == SpeakerSource::kIds ? SpeakerRule::guessed(row.id)
                                                       : kOnlySpeaker;
}

RowState RowIntake::state_of(const Row& row, const Reading& reading) const {
  const SplitOptions& splits = options_.splits;
  if (needs_splits()) {
    const Split split = split_of_row(row, reading);
    if (splits.split != Split::kAll && split != splits.split) return RowState::kSplit;
    if (!in_subset(row.id, split, splits)) return RowState::kSubset;
  }
  if (row.text.size() > options_.limits.max_text_length &&
      count_characters(row.text) > options_.limits.max_text_length)
    return RowState::kText;
  if (options_.limits.min_text_length > 0 &&
      count_characters(row.text) < options_.limits.min_text_length)
    return RowState::kText;
  return RowState::kAccepted;
}

}  // namespace stoker::data
