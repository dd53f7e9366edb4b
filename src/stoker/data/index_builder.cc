#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/data/errors.h"
#include "stoker/data/id_table.h"
#include "stoker/data/index.h"
#include "stoker/data/layout.h"
#include "stoker/data/layout_search.h"
#include "stoker/data/row_intake.h"
#include "stoker/data/row_rules.h"
#include "stoker/data/rows/line_reader.h"
#include "stoker/data/rows/row_check.h"
#include "stoker/data/sound_check.h"

namespace stoker::data {
namespace {

[[noreturn]] void refuse_sources(std::string promised, std::string found, std::string cure = {}) {
  raise({.code = &kDataSource,
         .promised = std::move(promised),
         .found = std::move(found),
         .cure = std::move(cure)});
}

void check_sources(const std::vector<SourceOptions>& sources) {
  if (sources.empty()) refuse_sources("at least one source", "none");
  if (sources.size() > 0xFFFF) refuse_sources("at most 65,535 sources", grouped(sources.size()));
  for (const SourceOptions& source : sources) {
    if (source.path.empty())
      refuse_sources("a folder or metadata file", "no path",
                     "name the data set: stoker data check FOLDER, and --data FOLDER elsewhere");
    if (!(source.weight > 0.0) || !std::isfinite(source.weight))
      refuse_sources("weights above 0", fmt::format("{} for {}", source.weight, source.path));
  }
}

// Ids are told apart by the name of their source, so names must differ.
void check_names(const std::vector<SourceOptions>& options, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (!seen.insert(names[i]).second)
      refuse_sources("a different name for each source",
                     fmt::format("\"{}\" twice; give {} a name", names[i], options[i].path));
}

std::string worst_codes(const CodeCounts& codes) {
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [name, count] : codes) sorted.emplace_back(count, name);
  std::sort(sorted.rbegin(), sorted.rend());
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, sorted.size()); ++i)
    out +=
        fmt::format("{}{} {}", out.empty() ? "" : ", ", grouped(sorted[i].first), sorted[i].second);
  return out;
}

std::string cure_of_outside(const std::string& folder, Io& io) {
  FileInfo info;  // looked at, never opened: it is outside the data set
  if (io.info_at(AT_FDCWD, folder, info).ok())
    return fmt::format("the sound files are in {0}: add --audio-root {0}", folder);
  return fmt::format(
      "the paths start with {}, which is not on this machine: write them relative to the metadata "
      "file",
      folder);
}

Result<Digest128> digest_of(const File& file) {
  const Result<FileInfo> info = file.info();
  if (!info.ok()) return info.error();
  if (info->kind == FileKind::kFolder) {
    const std::optional<TextFolder> texts = find_text_files(file);
    const RowSink nowhere{.row = [](const Row&) {},
                          .reject = [](std::string_view, std::uint64_t, const Error&) {},
                          .note = [](std::string_view) {}};
    return read_text_file_rows(file, texts ? texts->files : TextFiles{}, {}, nowhere);
  }
  LineReader lines(file);
  Line line;
  for (auto more = lines.next(line);; more = lines.next(line)) {
    if (!more.ok()) return std::move(more).error();
    if (!*more) return lines.digest();
  }
}

constexpr double kFastestSpeech = 60.0;  // characters per second; auctioneers reach about 35
constexpr std::size_t kRowsForAMedian = 8;

double pace_of(const Utterance& row) {
  return static_cast<double>(count_characters(row.text)) / row.duration_s();
}

// Transcripts that cannot belong to their recording: warns (E-DATA-PACE) of rows more than `factor`
// times faster or slower than the median row, and of rows no voice could speak.
void warn_of_pace(const UtteranceTable& rows, double factor, Account& account) {
  std::vector<float> paces;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].num_samples > 0) paces.push_back(static_cast<float>(pace_of(rows[i])));
  if (paces.empty()) return;
  const auto middle = paces.begin() + static_cast<std::ptrdiff_t>(paces.size() / 2);
  std::nth_element(paces.begin(), middle, paces.end());
  const double median = static_cast<double>(*middle);
  const bool has_median = paces.size() >= kRowsForAMedian;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Utterance row = rows[i];
    if (row.num_samples == 0) continue;
    const double pace = pace_of(row);
    const bool far = has_median && (pace > median * factor || pace * factor < median);
    if (!far && pace <= kFastestSpeech) continue;
    account.warn(
        {.id = std::string(row.id),
         .line = row.line,
         .source = row.source,
         .error = {.code = &kDataPace,
                   .place = {.file = std::string(row.file)},
                   .promised = fmt::format("about {:.1f} characters per second", median),
                   .found = fmt::format("{:.1f} ({:.2f} s of sound)", pace, row.duration_s())}});
  }
}

}  // namespace

class IndexBuilder {
 public:
  IndexBuilder(const IndexOptions& options, Io& io, std::stop_token stop)
      : options_(options), stop_(std::move(stop)) {
    index_.io_ = &io;
  }

  Index build() {
    check_sources(options_.sources);
    read_sources();
    if (options_.text) tokenizers_ = make_tokenizers(*options_.text, rows_.languages.names());
    if (options_.check != FileCheck::kNone) {
      std::vector<SweptSource> swept;
      for (std::size_t i = 0; i < index_.sources_.size(); ++i)
        swept.push_back({&index_.sources_[i].root, index_.metadata_files_[i].path});
      sweep_sounds(rows_, swept, options_, tokenizers_, index_.account_, stop_);
    }
    keep_accepted();
    index_.refusal_ = refusal();
    return std::move(index_);
  }

 private:
  void read_sources() {
    RowIntake intake(options_, index_.account_, stop_);
    std::vector<std::string> names;
    for (const SourceOptions& source : options_.sources) {
      auto layout = open_layout(source, *index_.io_).take_or_raise();
      names.push_back(layout.front().name);
      const bool gives_way = layout.back().gives_way;
      for (MetadataSource& metadata : layout) {
        const bool is_heeded = gives_way && !metadata.gives_way;
        if (is_used(metadata) || is_heeded) read_metadata(intake, std::move(metadata), source);
      }
    }
    if (names.size() > 1) check_names(options_.sources, names);
    outside_folder_ = intake.outside_folder();
    rows_ = std::move(intake).take();
  }

  bool is_used(const MetadataSource& metadata) const {
    const Split split = options_.splits.split;
    return split == Split::kAll || metadata.role == Split::kAll || metadata.role == split;
  }

  void read_metadata(RowIntake& intake, MetadataSource metadata, const SourceOptions& source) {
    const auto number = static_cast<std::uint32_t>(index_.sources_.size());
    const DataSetRecord record = load_record(metadata.folder).take_or_raise();
    const Digest128 digest = intake.read(metadata, source, record, number).take_or_raise();
    index_.metadata_files_.push_back({metadata.metadata.path(), digest});
    if (!is_used(metadata)) return;  // its rows are only left out of another file
    index_.sources_.push_back({.name = metadata.name,
                               .weight = source.weight,
                               .root = std::move(metadata.root),
                               .recorded_language = record.language});
    index_.links_ = options_.links;
  }

  void keep_accepted() {
    std::vector<std::uint8_t> keep(rows_.state.size());
    std::transform(rows_.state.begin(), rows_.state.end(), keep.begin(), [](RowState state) {
      return static_cast<std::uint8_t>(state == RowState::kAccepted);
    });
    rows_.utterances.keep_only(keep);
    index_.table_ = std::move(rows_.utterances);
    index_.languages_ = rows_.languages.names();
    number_speakers();
    warn_of_pace(index_.table_, options_.pace_factor, index_.account_);
    index_.account_.close();
    digest_rows();
  }

  // Kaldi's utt2spk names each utterance its own speaker where nobody knows better.
  bool each_is_its_own_speaker() const {
    for (std::size_t i = 0; i < index_.table_.size(); ++i) {
      const Utterance row = index_.table_[i];
      const std::string& speaker = rows_.speakers.names()[row.speaker];
      std::string_view id = row.id;
      if (options_.sources.size() > 1)
        id.remove_prefix(index_.sources_[row.source].name.size() + 1);
      if (id != speaker) return false;
    }
    return index_.table_.size() > 1;
  }

  // Speakers of rows that are not used leave no gap in the numbers.
  void number_speakers() {
    const bool is_unnamed =
        options_.speakers.from == SpeakerSource::kNamed && each_is_its_own_speaker();
    NameTable used;
    for (std::size_t i = 0; i < index_.table_.size(); ++i)
      index_.table_.set_speaker(
          i, used.number_of(is_unnamed ? kOnlySpeaker
                                       : rows_.speakers.names()[index_.table_[i].speaker]));
    index_.speakers_ = used.names();
    if (index_.speakers_.size() > options_.speakers.max_speakers)
      raise({.code = &kDataSpeakers,
             .promised = fmt::format("at most {} speakers", options_.speakers.max_speakers),
             .found = fmt::format("{}, such as \"{}\" and \"{}\"", grouped(used.names().size()),
                                  escape_control(used.names().front()),
                                  escape_control(used.names().back()))});
  }

  // Rows that are whole files add nothing, so that their digests are those of data sets without
  // segments.
  static void digest_segment(const Utterance& row, DigestStream& digest) {
    digest.add_text("segment");
    digest.add_number(row.first_sample);
    digest.add_number(row.num_samples);
  }

  void digest_rows() {
    DigestStream digest;
    for (std::size_t i = 0; i < index_.table_.size(); ++i) {
      const Utterance row = index_.table_[i];
      digest.add_text(row.id);
      digest.add_text(row.text);
      digest.add_text(index_.speakers_[row.speaker]);
      digest.add_text(index_.languages_[row.language]);
      digest.add_number(row.num_samples);
      digest.add_number(row.rate_hz);
      if (row.is_segment) digest_segment(row, digest);
      index_.audio_s_ += row.duration_s();
    }
    index_.data_digest_ = digest.finish();
  }

  // What would help when most rows fail alike; empty when they do not.
  std::string common_cure() const {
    const CodeCounts& codes = index_.account_.reject_codes();
    const auto worst =
        std::max_element(codes.begin(), codes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (worst == codes.end() || worst->second * 2 < index_.counts().rows) return {};
    if (worst->first == kMetaPath.name && !outside_folder_.empty())
      return cure_of_outside(outside_folder_, *index_.io_);
    if (worst->first == kMetaNoFile.name)
      return "name the folder that the sound paths start from: --audio-root FOLDER";
    const auto first =
        std::find_if(index_.rejects().begin(), index_.rejects().end(),
                     [&](const Reject& reject) { return reject.error.code->name == worst->first; });
    if (first == index_.rejects().end()) return {};
    return first->error.cure.empty() ? std::string(first->error.code->cure) : first->error.cure;
  }

  // As common_cure(), for rows that the user's own limits leave out.
  std::string cure_of_no_rows() const {
    const CodeCounts& codes = index_.account_.filter_codes();
    for (const ErrorCode* code :
         {&kFilterSplit, &kFilterSubset, &kFilterText, &kFilterDuration, &kFilterFrames}) {
      const auto found = codes.find(code->name);
      if (found != codes.end() && found->second * 2 >= index_.counts().rows)
        return std::string(code->cure);
    }
    return common_cure();
  }

  std::optional<Error> refusal() const {
    const IndexCounts& counts = index_.counts();
    const auto share =
        static_cast<std::uint64_t>(options_.max_bad_fraction * static_cast<double>(counts.rows));
    const std::uint64_t bound =
        options_.bad_inputs == BadInputs::kFail ? 0 : std::max(share, options_.max_bad_rows);
    const std::string file =
        index_.metadata_files_.empty() ? std::string() : index_.metadata_files_.front().path;
    if (counts.rejected > bound)
      return Error{
          .code = &kDataRejects,
          .place = {.file = file},
          .promised = fmt::format("at most {} bad rows", grouped(bound)),
          .found = fmt::format("{} of {} rows: {}", grouped(counts.rejected), grouped(counts.rows),
                               worst_codes(index_.account_.reject_codes())),
          .cure = common_cure()};
    if (counts.accepted == 0)
      return Error{.code = &kDataNoRows,
                   .place = {.file = file},
                   .promised = "usable rows",
                   .found = fmt::format("none: {}, {} filtered, {} rejected",
                                        counted(counts.rows, "row", "rows"),
                                        grouped(counts.filtered), grouped(counts.rejected)),
                   .cure = cure_of_no_rows()};
    if (!tokenizers_.empty())
      return vocabulary_misfit(index_, tokenizers_, options_.max_unknown_fraction);
    return std::nullopt;
  }

  const IndexOptions& options_;
  std::stop_token stop_;
  Index index_;
  RowTable rows_;
  std::string outside_folder_;     // of absolute sound paths that are not beneath the root
  LanguageTokenizers tokenizers_;  // empty where texts are not looked at
};

Index scan_index(const IndexOptions& options, Io& io, std::stop_token stop) {
  return IndexBuilder(options, io, std::move(stop)).build();
}

Index open_index(const IndexOptions& options, Io& io, std::stop_token stop) {
  Index index = scan_index(options, io, std::move(stop));
  if (index.refusal()) raise(*index.refusal());
  return index;
}

Result<File> Index::open_sound(const Utterance& utterance) const {
  return data::open_sound(sources_[utterance.source].root, std::string(utterance.file), links_);
}

Result<void> Index::check_unchanged() const {
  for (const MetadataFile& was : metadata_files_) {
    auto file = open_file(*io_, was.path, OpenFor::kRead);
    if (!file.ok()) return std::move(file).error();
    const Result<Digest128> digest = digest_of(*file);
    if (!digest.ok()) return digest.error();
    if (*digest != was.digest)
      return Error{.code = &kMetaChanged,
                   .place = {.file = was.path},
                   .promised = "content with digest " + was.digest.short_hex(),
                   .found = digest->short_hex()};
  }
  return {};
}

}  // namespace stoker::data
