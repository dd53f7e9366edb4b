#include "stoker/data/voice/data_set_maker.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "stoker/audio/file/wav_writer.h"
#include "stoker/base/bytes.h"
#include "stoker/base/thread/sync.h"
#include "stoker/data/data_set_record.h"
#include "stoker/data/errors.h"
#include "stoker/data/voice/steady_math.h"
#include "stoker/data/voice/utterance_maker.h"

namespace stoker::data::voice {
namespace {

// What the tables say of one utterance, kept until all are made.
struct Row {
  std::string metadata, phonemes, alignment;
  std::uint64_t num_samples = 0;
  Digest128 wav_digest{};
};

double round_to_tenth_ms(double seconds) { return floor_of(seconds * 1e4 + 0.5) / 1e4; }

nlohmann::ordered_json times_of(const std::vector<TimedLabel>& labels, const char* name) {
  auto out = nlohmann::ordered_json::array();
  for (const TimedLabel& timed : labels) {
    out.push_back({{name, timed.label},
                   {"start_s", round_to_tenth_ms(timed.begin_s)},
                   {"end_s", round_to_tenth_ms(timed.end_s)}});
  }
  return out;
}

Row describe(const std::string& id, const MadeUtterance& made) {
  Row row;
  row.metadata = id + "|" + made.sentence.raw + "|" + made.sentence.normalised + "\n";
  row.phonemes = id + "|";
  for (std::size_t i = 1; i + 1 < made.phones.size(); ++i) {  // the silent ends are left out
    if (i > 1) row.phonemes += ' ';
    row.phonemes += made.phones[i].label;
  }
  row.phonemes += '\n';
  const nlohmann::ordered_json line{{"id", id},
                                    {"words", times_of(made.words, "word")},
                                    {"phones", times_of(made.phones, "phone")}};
  row.alignment = line.dump() + "\n";
  row.num_samples = made.samples.size();
  return row;
}

// Shares the utterances out among workers; each goes to a row of its own, so order and number of
// workers leave no trace.
class Maker {
 public:
  Maker(const MakeOptions& options, const OutFolder& folder)
      : options_(options), folder_(folder), rows_(options.num_utterances) {
    for (std::uint32_t i = 0; i < options.num_speakers; ++i) {
      speakers_.push_back(draw_speaker(options.seed, i));
    }
  }

  // Works until nothing is left, a stop is asked for, or anything failed anywhere.
  void work(const std::stop_token& stop, Progress& progress) {
    try {
      while (!stop.stop_requested() && !failed_.load()) {
        const std::uint64_t index = next_.fetch_add(1);
        if (index >= rows_.size()) return;
        if (auto made = make_one(index); !made) return fail(made.error());
        num_done_.fetch_add(1);
        progress.advance(1);
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void fail(std::exception_ptr why) {
    const Lock lock(mutex_);
    if (!exception_) exception_ = std::move(why);
    failed_.store(true);
  }

  bool is_complete() const { return num_done_.load() == rows_.size(); }
  std::uint64_t num_done() const { return num_done_.load(); }
  const std::vector<Row>& rows() const { return rows_; }
  std::string id_of(std::uint64_t index) const { return utterance_id(speaker_of(index), index); }
  // The first write that failed; an exception of a worker is thrown again.
  std::optional<Error> error() {
    const Lock lock(mutex_);
    if (exception_) std::rethrow_exception(exception_);
    return error_;
  }

 private:
  std::uint32_t speaker_of(std::uint64_t index) const {
    return static_cast<std::uint32_t>(index % options_.num_speakers);
  }

  Result<void> make_one(std::uint64_t index) {
    const MadeUtterance made = make_utterance({.seed = options_.seed,
                                               .index = index,
                                               .language = options_.language,
                                               .speaker = speakers_[speaker_of(index)],
                                               .lengths = options_.lengths,
                                               .rate_hz = options_.rate_hz});
    const std::string id = id_of(index);
    rows_[index] = describe(id, made);
    rows_[index].wav_digest = digest_of(std::as_bytes(std::span(made.samples)));
    return audio::write_wav_pcm16(folder_.wavs, id + ".wav", made.samples, options_.rate_hz);
  }

  void fail(const Error& error) {
    const Lock lock(mutex_);
    if (!error_) error_ = error;
    failed_.store(true);
  }

  const MakeOptions& options_;
  const OutFolder& folder_;
  std::vector<Speaker> speakers_;
  std::vector<Row> rows_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> num_done_{0};
  std::atomic<bool> failed_{false};
  Mutex mutex_;
  std::optional<Error> error_ STOKER_GUARDED_BY(mutex_);
  std::exception_ptr exception_ STOKER_GUARDED_BY(mutex_);
};

void run_workers(Maker& maker, unsigned num_workers, const std::stop_token& stop,
                 Progress& progress) {
  std::vector<Thread> threads;
  try {
    for (unsigned i = 1; i < num_workers; ++i)
      threads.emplace_back("voice-" + std::to_string(i),
                           [&](const std::stop_token&) { maker.work(stop, progress); });
  } catch (...) {
    maker.fail(std::current_exception());
  }
  maker.work(stop, progress);
  for (Thread& thread : threads) thread.join();
}

Result<void> write_table(const Maker& maker, const File& folder, std::string Row::*column,
                         std::string_view name) {
  std::string text;
  for (const Row& row : maker.rows()) text += row.*column;
  return publish_file(folder, std::string(name), view_bytes(text));
}

// One speaker needs no name.
std::string record_of(const MakeOptions& options) {
  DataSetRecord record{.language = options.language == Language::kPersian ? "fa" : "en"};
  if (options.num_speakers > 1) record.speaker_id_pattern = "^(spk[0-9]+)_";
  return record_text(record);
}

Result<void> write_tables(const Maker& maker, const File& folder, const std::string& record) {
  auto written = publish_file(folder, std::string(kRecordName), view_bytes(record));
  if (written) written = write_table(maker, folder, &Row::phonemes, kPhonemesName);
  if (written) written = write_table(maker, folder, &Row::alignment, kAlignmentsName);
  if (written) written = write_table(maker, folder, &Row::metadata, kMetadataName);
  return written;
}

MakeReport report_of(const Maker& maker, std::uint32_t rate_hz, const std::string& record) {
  MakeReport report{.num_made = maker.num_done()};
  DigestStream digest;
  std::uint64_t num_samples = 0;
  for (std::uint64_t i = 0; i < maker.rows().size(); ++i) {
    const Row& row = maker.rows()[i];
    digest.add_text(maker.id_of(i));
    digest.add_text(row.metadata);
    digest.add_text(row.phonemes);
    digest.add_text(row.alignment);
    digest.add_number(row.wav_digest.high);
    digest.add_number(row.wav_digest.low);
    num_samples += row.num_samples;
  }
  digest.add_text(record);
  digest.add_number(rate_hz);
  report.audio_s = static_cast<double>(num_samples) / static_cast<double>(rate_hz);
  report.tree_digest = digest.finish();
  return report;
}

Result<void> check_options(const MakeOptions& options) {
  const auto refuse = [](std::string promised, std::uint64_t found) -> Result<void> {
    return Error{
        .code = &kMakeOption, .promised = std::move(promised), .found = fmt::format("{}", found)};
  };
  if (options.num_utterances < 1 || options.num_utterances > kMostUtterances) {
    return refuse("--clips of 1 to 100,000,000", options.num_utterances);
  }
  if (options.num_speakers < 1 || options.num_speakers > kMostSpeakers) {
    return refuse("--speakers of 1 to 1,000", options.num_speakers);
  }
  if (options.rate_hz < kLowestRateHz || options.rate_hz > kHighestRateHz) {
    return refuse("--sample-rate of 8000 to 48000 Hz", options.rate_hz);
  }
  return {};
}

}  // namespace

std::string utterance_id(std::uint32_t speaker_index, std::uint64_t utterance_index) {
  return fmt::format("spk{:02}_{:05}", speaker_index, utterance_index);
}

Result<MakeReport> make_data_set(Io& io, const MakeOptions& options, const std::stop_token& stop,
                                 Progress& progress) {
  if (auto checked = check_options(options); !checked) return checked.error();
  auto folder = prepare_out_folder(io, options.out, options.existing);
  if (!folder) return folder.error();
  Maker maker(options, *folder);
  run_workers(maker, options.num_workers, stop, progress);
  if (auto error = maker.error()) return *error;
  const std::string record = record_of(options);
  if (maker.is_complete()) {
    if (auto written = write_tables(maker, folder->root, record); !written) return written.error();
  }
  return report_of(maker, options.rate_hz, record);
}

Json report_json(const MakeOptions& options, const MakeReport& report) {
  return {{"out", options.out},
          {"clips", report.num_made},
          {"audio_s", report.audio_s},
          {"tree_digest", report.tree_digest.hex()}};
}

Result<Language> parse_language(std::string_view name) {
  if (name == "en") return Language::kEnglish;
  if (name == "fa") return Language::kPersian;
  return Error{.code = &kMakeOption, .promised = "language en or fa", .found = std::string(name)};
}

}  // namespace stoker::data::voice
