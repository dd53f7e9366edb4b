#include "stoker/cache/build/index_makers.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "stoker/base/number_text.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/format/element_type.h"
#include "stoker/data/features/sound_loader.h"

namespace stoker::cache {
namespace {

Error too_short(const data::Utterance& utterance, std::size_t num_samples) {
  Error error;
  error.code = &kNoFrames;
  error.place.file = std::string(utterance.file);
  error.promised = "enough samples for one frame";
  error.found = fmt::format("{} samples", grouped(num_samples));
  error.action = "row rejected";
  return error;
}

class MelWorker final : public RecordMaker::Worker {
 public:
  MelWorker(const data::FeatureSpec& spec, const SortedRows& rows)
      : loader_(spec), rows_(rows), mel_(spec.mel()), dtype_(spec.mel_dtype()) {}

  Result<void> make(std::size_t row, MadeRecord& out) override {
    const data::Utterance utterance = rows_[row];
    data::LoadedUtterance loaded;
    Result<void> done = loader_.load_with_digest(utterance, loaded);
    out.source = loaded.source;
    out.source_bytes = loaded.source_bytes;
    if (!done) return done;
    const std::size_t num_frames = mel_.num_frames(loaded.samples.size());
    if (num_frames == 0) return too_short(utterance, loaded.samples.size());
    const auto num_mels = static_cast<std::uint32_t>(mel_.num_mels());
    std::span<std::byte> payload =
        out.reset({element_of(dtype_), 2, {static_cast<std::uint32_t>(num_frames), num_mels}});
    if (!workspace_ || loaded.samples.size() > max_samples_) {
      max_samples_ = std::max<std::size_t>(2 * loaded.samples.size(), 1 << 18);
      workspace_.emplace(mel_.make_workspace(max_samples_));
    }
    mel_.run(loaded.samples, {payload.data(), dtype_, num_mels, num_frames}, *workspace_);
    return {};
  }

 private:
  data::SoundLoader loader_;
  const SortedRows& rows_;
  const audio::LogMel& mel_;
  config::MelDtype dtype_;
  std::optional<audio::LogMel::Workspace> workspace_;
  std::size_t max_samples_ = 0;
};

class PcmWorker final : public RecordMaker::Worker {
 public:
  PcmWorker(const data::FeatureSpec& spec, const SortedRows& rows) : loader_(spec), rows_(rows) {}

  Result<void> make(std::size_t row, MadeRecord& out) override {
    data::LoadedUtterance loaded;
    Result<void> done = loader_.load_with_digest(rows_[row], loaded);
    out.source = loaded.source;
    out.source_bytes = loaded.source_bytes;
    if (!done) return done;
    if (loaded.samples.empty()) return too_short(rows_[row], 0);
    std::span<std::byte> payload =
        out.reset({ElementType::kI16, 1, {static_cast<std::uint32_t>(loaded.samples.size())}});
    std::memcpy(payload.data(), loaded.samples.data(), payload.size());
    return {};
  }

 private:
  data::SoundLoader loader_;
  const SortedRows& rows_;
};

class TokenWorker final : public RecordMaker::Worker {
 public:
  TokenWorker(const data::FeatureSpec& spec, const SortedRows& rows)
      : spec_(spec), rows_(rows), tokenizer_(spec) {}

  Result<void> make(std::size_t row, MadeRecord& out) override {
    const data::Utterance utterance = rows_[row];
    out.source = spec_.text_digest(utterance);
    out.source_bytes = spec_.spoken_text(utterance).size();
    const Result<std::span<const std::int32_t>> tokens = tokenizer_.tokenize(utterance);
    if (!tokens) return tokens.error();
    std::span<std::byte> payload =
        out.reset({ElementType::kI32, 1, {static_cast<std::uint32_t>(tokens->size())}});
    if (!tokens->empty()) std::memcpy(payload.data(), tokens->data(), payload.size());
    return {};
  }

 private:
  const data::FeatureSpec& spec_;
  const SortedRows& rows_;
  data::UtteranceTokenizer tokenizer_;
};

}  // namespace

SortedRows::SortedRows(const data::Index& index)
    : index_(&index), order_(index.size()), places_(index.size()) {
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return index[a].id < index[b].id; });
  for (std::uint32_t i = 0; i < order_.size(); ++i) places_[order_[i]] = i;
}

Result<std::optional<SourceStamp>> SoundMaker::stamp(std::size_t row) const {
  const data::Utterance utterance = rows_[row];
  const File& root = rows_.index().sources()[utterance.source].root;
  FileInfo info;
  const SysResult found = root.io().info_at(root.handle(), std::string(utterance.file), info);
  if (!found.ok() || info.kind != FileKind::kRegular) {
    // A link, or gone: open it as the decoder would.
    Result<File> file = rows_.index().open_sound(utterance);
    if (!file) return std::move(file).error();
    Result<FileInfo> target = file->info();
    if (!target) return std::move(target).error();
    info = *target;
  }
  return std::optional(SourceStamp{info.size_bytes, info.mtime_ns, info.ctime_ns, info.inode});
}

std::string SoundMaker::source_part(std::size_t row) const {
  const data::Utterance utterance = rows_[row];
  if (!utterance.is_segment) return {};
  return fmt::format("{}+{}", utterance.first_sample, utterance.num_samples);
}

Result<Digest128> SoundMaker::source_digest(std::size_t row) const {
  return data::SoundLoader(spec_).digest(rows_[row]);
}

std::optional<std::uint64_t> SoundMaker::exact_samples(std::size_t row) const {
  const data::Utterance utterance = rows_[row];
  return audio::PreparedSpeech::num_prepared(spec_.speech_rule(), utterance.rate_hz,
                                             utterance.num_samples);
}

std::uint64_t SoundMaker::expected_samples(std::size_t row) const {
  return exact_samples(row).value_or(rows_[row].num_samples);
}

std::uint64_t MelMaker::expected_bytes(std::size_t row) const {
  return spec_.mel().num_frames(expected_samples(row)) * spec_.mel().num_mels() *
         config::bytes_per_value(spec_.mel_dtype());
}

std::optional<std::string> MelMaker::shape_missed_by(std::size_t row,
                                                     const ArrayShape& found) const {
  const std::optional<std::uint64_t> samples = exact_samples(row);
  const audio::LogMel& mel = spec_.mel();
  const std::uint64_t num_frames = samples ? mel.num_frames(*samples) : found.axes[0];
  const ElementType element = element_of(spec_.mel_dtype());
  const bool fits = found.element == element && found.rank == 2 && found.axes[0] > 0 &&
                    found.axes[0] == num_frames && found.axes[1] == mel.num_mels();
  if (fits) return std::nullopt;
  return fmt::format("{} [{}, {}]", element_name(element),
                     samples ? fmt::format("{}", num_frames) : "frames", mel.num_mels());
}

std::unique_ptr<RecordMaker::Worker> MelMaker::make_worker() const {
  return std::make_unique<MelWorker>(spec_, rows_);
}

std::optional<std::string> PcmMaker::shape_missed_by(std::size_t row,
                                                     const ArrayShape& found) const {
  const std::uint64_t num_samples = exact_samples(row).value_or(found.axes[0]);
  const bool fits = found.element == ElementType::kI16 && found.rank == 1 && found.axes[0] > 0 &&
                    found.axes[0] == num_samples;
  if (fits) return std::nullopt;
  return fmt::format("i16 [{}]", num_samples);
}

std::unique_ptr<RecordMaker::Worker> PcmMaker::make_worker() const {
  return std::make_unique<PcmWorker>(spec_, rows_);
}

std::uint64_t TokenMaker::expected_bytes(std::size_t row) const {
  // Blanks and edges at most double a text; words for numbers rarely more.
  return 4 * (4 * spec_.spoken_text(rows_[row]).size() + 16);
}

Result<Digest128> TokenMaker::source_digest(std::size_t row) const {
  return spec_.text_digest(rows_[row]);
}

std::unique_ptr<RecordMaker::Worker> TokenMaker::make_worker() const {
  return std::make_unique<TokenWorker>(spec_, rows_);
}

}  // namespace stoker::cache
