#include "stoker/data/sound_check.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "stoker/audio/errors.h"
#include "stoker/base/errors.h"
#include "stoker/base/number_text.h"
#include "stoker/data/errors.h"

namespace stoker::data {
namespace {

constexpr float kFullScale = 32767.0F / 32768.0F;
// Peaks touch full scale now and then; a thousandth of all samples is a recording that was cut.
constexpr double kClippedShare = 0.001;
// Speech has a mean of a few ten-thousandths; half a percent of full scale is the recorder's.
constexpr double kMostOffset = 0.005;
// The level of speech is about -20 to -35 dBFS, pauses included.
constexpr double kLeastLevelDb = -50.0;

// What a listener would notice at once: silence, a constant, samples stuck at full scale, an
// offset, a level at which noise is all that is heard.
class SampleStatistics {
 public:
  void add(std::span<const float> samples);

  Digest128 digest() const noexcept { return digest_.finish(); }
  // E-DATA-SILENT or E-DATA-CONSTANT; else any of E-DATA-CLIPPED, E-DATA-OFFSET and E-DATA-QUIET.
  // Without a place.
  std::vector<Error> oddities() const;

 private:
  // Several sums side by side, so that the additions do not wait for each other.
  static constexpr std::size_t kLanes = 8;
  using Sums = std::array<double, kLanes>;

  DigestStream digest_;
  Sums sums_{};
  Sums square_sums_{};
  std::uint64_t num_samples_ = 0;
  std::uint64_t num_full_scale_ = 0;
  float lowest_ = 0;
  float highest_ = 0;
};

void SampleStatistics::add(std::span<const float> samples) {
  if (samples.empty()) return;
  if (num_samples_ == 0) lowest_ = highest_ = samples.front();
  for (const float sample : samples) {
    lowest_ = std::min(lowest_, sample);
    highest_ = std::max(highest_, sample);
    num_full_scale_ += static_cast<std::uint64_t>(sample >= kFullScale || sample <= -kFullScale);
  }
  const auto add_to_lane = [&](std::size_t lane, float value) {
    const auto sample = static_cast<double>(value);
    sums_[lane] += sample;
    square_sums_[lane] += sample * sample;
  };
  std::size_t done = 0;
  for (; done + kLanes <= samples.size(); done += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) add_to_lane(lane, samples[done + lane]);
  for (; done < samples.size(); ++done) add_to_lane(0, samples[done]);
  num_samples_ += samples.size();
  digest_.add(std::as_bytes(samples));
}

std::vector<Error> SampleStatistics::oddities() const {
  if (lowest_ == highest_)
    return {{.code = lowest_ == 0.0F ? &kDataSilent : &kDataConstant,
             .promised = "sound",
             .found = fmt::format("{} in every sample", lowest_)}};
  std::vector<Error> out;
  const auto count = static_cast<double>(num_samples_);
  const double mean = std::accumulate(sums_.begin(), sums_.end(), 0.0) / count;
  const double power =
      std::accumulate(square_sums_.begin(), square_sums_.end(), 0.0) / count - mean * mean;
  const double level_db = 10.0 * std::log10(std::max(power, 1e-20));
  if (static_cast<double>(num_full_scale_) > kClippedShare * count)
    out.push_back({.code = &kDataClipped,
                   .promised = "samples below full scale",
                   .found = fmt::format("{} of {} at or beyond full scale",
                                        grouped(num_full_scale_), grouped(num_samples_))});
  if (std::abs(mean) > kMostOffset)
    out.push_back({.code = &kDataOffset,
                   .promised = fmt::format("a mean within {} of zero", kMostOffset),
                   .found = fmt::format("{:.4f} of full scale", mean)});
  if (level_db < kLeastLevelDb)
    out.push_back({.code = &kDataQuiet,
                   .promised = fmt::format("a level above {:.0f} dBFS", kLeastLevelDb),
                   .found = fmt::format("{:.1f} dBFS", level_db)});
  return out;
}

void reject(SoundVerdict& out, Error error) {
  out.verdict = Verdict::kRejected;
  out.error = std::move(error);
}

void filter(SoundVerdict& out, const ErrorCode& code) {
  out.verdict = Verdict::kFiltered;
  out.error.code = &code;
}

Error at_file(const ErrorCode& code, const File& file, std::string promised, std::string found) {
  return {.code = &code,
          .place = {.file = file.path()},
          .promised = std::move(promised),
          .found = std::move(found)};
}

std::string seconds_of(std::uint64_t num_samples, std::uint32_t rate_hz) {
  return fmt::format("{:.3f} s", static_cast<double>(num_samples) / rate_hz);
}

// Seconds as samples of the file, to nearest; nothing when they cannot be.
std::optional<std::uint64_t> samples_of(double seconds, std::uint32_t rate_hz) {
  const double samples = seconds * rate_hz + 0.5;
  if (!(samples >= 0.0) || samples >= 9e15) return std::nullopt;
  return static_cast<std::uint64_t>(samples);
}

struct Oddity {
  std::uint32_t flag;
  const ErrorCode* code;
};
constexpr std::array<Oddity, 7> kOddities{{{audio::kOddRiffSize, &audio::kWavRiffSize},
                                           {audio::kOddTrailingBytes, &audio::kWavTrailing},
                                           {audio::kOddDataBytes, &audio::kWavOddData},
                                           {audio::kOddStreamed, &audio::kWavStreamed},
                                           {audio::kOddMissingPad, &audio::kWavPad},
                                           {audio::kOddByteRate, &audio::kWavByteRate},
                                           {audio::kOddSuffix, &audio::kWavSuffix}}};

void list_oddities(const File& file, const audio::SoundInfo& info, const IndexOptions& options,
                   SoundVerdict& out) {
  for (const Oddity& oddity : kOddities)
    if ((info.oddities & oddity.flag) != 0)
      out.oddities.push_back(at_file(*oddity.code, file, "", std::string(oddity.code->meaning)));
  if (info.num_channels > 1)
    out.oddities.push_back(
        at_file(kDataMixed, file, "1 channel", fmt::format("{} channels", info.num_channels)));
  if (info.rate_hz != options.rate_hz)
    out.oddities.push_back(at_file(kDataResampled, file, fmt::format("{} Hz", options.rate_hz),
                                   fmt::format("{} Hz", info.rate_hz)));
}

// Where the utterance is in its file. A duration that is the file's own to within 50 ms is the
// whole file, since manifests round it.
std::optional<Error> place_segment(const File& file, const audio::SoundInfo& info,
                                   const Segment* segment, UtteranceTable::Sound& sound) {
  sound = {.first_sample = 0, .num_samples = info.num_samples, .rate_hz = info.rate_hz};
  if (segment == nullptr) return std::nullopt;
  constexpr double kSlackSeconds = 0.05;
  const auto first = samples_of(segment->offset_s, info.rate_hz);
  const auto slack = *samples_of(kSlackSeconds, info.rate_hz);
  const auto outside = [&] {
    return at_file(kMetaSegment, file,
                   segment->duration_s ? fmt::format("{:.3f} s from {:.3f} s", *segment->duration_s,
                                                     segment->offset_s)
                                       : fmt::format("a start at {:.3f} s", segment->offset_s),
                   "a file of " + seconds_of(info.num_samples, info.rate_hz));
  };
  if (!first || *first >= info.num_samples) return outside();
  const std::uint64_t left = info.num_samples - *first;
  std::uint64_t count = left;
  if (segment->duration_s) {
    const auto asked = samples_of(*segment->duration_s, info.rate_hz);
    if (!asked || *asked == 0 || *asked > left + slack) return outside();
    count = std::min(*asked, left);
    if (*first == 0 && count + slack >= info.num_samples) count = info.num_samples;
  }
  sound.first_sample = *first;
  sound.num_samples = count;
  return std::nullopt;
}

Error in_data_set_words(Error error) {
  if (error.code == &kIoMissing) {
    error.code = &kMetaNoFile;
    error.promised = "a sound file";
    error.found = "none";
  }
  if (error.code == &kIoOutside || error.code == &kIoLoop) error.code = &kMetaLink;
  return error;
}

}  // namespace

Error missing_sound(const MetadataSource& metadata, std::string_view wanted,
                    std::optional<std::string_view> other_form) {
  std::string path = metadata.root.path() + "/" + metadata.sound;
  if (!path.ends_with('/')) path += '/';
  path += wanted;
  if (!audio::has_sound_suffix(wanted)) path += ".wav";
  return {.code = &kMetaNoFile,
          .place = {.file = std::move(path)},
          .promised = "a sound file of this name, with any known suffix",
          .found = other_form ? fmt::format("none; the name exists in Unicode form {}", *other_form)
                              : std::string("none"),
          .cure = other_form ? std::string("write the id in the form the file name has")
                             : std::string()};
}

std::optional<Error> unusable_kind(const std::string& path, FileKind kind, Links links) {
  const auto refuse = [&](const ErrorCode& code, std::string_view found) {
    return Error{.code = &code,
                 .place = {.file = path},
                 .promised = "a sound file",
                 .found = std::string(found)};
  };
  switch (kind) {
    case FileKind::kFolder:
      return refuse(kIoKind, "a folder");
    case FileKind::kPipe:
      return refuse(kIoKind, "a pipe (FIFO)");
    case FileKind::kSocket:
      return refuse(kIoKind, "a socket");
    case FileKind::kDevice:
      return refuse(kIoKind, "a device");
    case FileKind::kLink:
      if (links == Links::kRefuse) return refuse(kMetaLink, "a symbolic link (links: refuse)");
      break;
    case FileKind::kRegular:
    case FileKind::kOther:
      break;
  }
  return std::nullopt;
}

Result<File> open_sound(const File& root, const std::string& path, Links links) {
  const std::string full_path = root.path() + "/" + path;
  const SysResult opened = root.io().open_at(root.handle(), path,
                                             {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY,
                                              .beneath = true,
                                              .follow_links = links == Links::kBeneath});
  if (!opened.ok()) return in_data_set_words(io_error("open", full_path, opened.error_number));
  return File(root.io(), static_cast<int>(opened.value), full_path);
}

SoundVerdict SoundCheck::judge(const Utterance& utterance, const Segment* segment,
                               const File& root) {
  SoundVerdict out;
  const std::string path(utterance.file);
  // A file that is being replaced deserves a second look, but only one.
  for (int attempt = 0; attempt < 2; ++attempt) {
    out = {};
    auto file = open_sound(root, path, options_.links);
    if (!file.ok())
      reject(out, std::move(file).error());
    else
      judge_file(*file, segment, out);
    if (out.error.code != &audio::kWavChanged) break;
  }
  return out;
}

void SoundCheck::judge_file(const File& file, const Segment* segment, SoundVerdict& out) {
  auto info = audio::read_sound_info(file, options_.sound);
  if (!info.ok()) return reject(out, std::move(info).error());
  out.file = info->file;
  if (auto error = place_segment(file, *info, segment, out.sound))
    return reject(out, std::move(*error));
  out.sound.mark = file_mark(info->file);
  judge_length(file, *info, out);
  if (out.verdict != Verdict::kAccepted) return;
  if (options_.check == FileCheck::kContent) judge_samples(file, *info, out);
  if (out.verdict == Verdict::kAccepted) list_oddities(file, *info, options_, out);
}

void SoundCheck::judge_length(const File& file, const audio::SoundInfo& info,
                              SoundVerdict& out) const {
  const UtteranceTable::Sound& sound = out.sound;
  if (info.rate_hz != options_.rate_hz && options_.other_rates == OtherRates::kReject)
    return reject(out, at_file(kDataRate, file, fmt::format("{} Hz", options_.rate_hz),
                               fmt::format("{} Hz", info.rate_hz)));
  const double duration_s = static_cast<double>(sound.num_samples) / sound.rate_hz;
  const auto target_samples = static_cast<std::uint64_t>(duration_s * options_.rate_hz + 1e-6);
  if (target_samples < options_.min_samples)
    return reject(out, at_file(kDataShort, file,
                               fmt::format("at least {} samples ({})", options_.min_samples,
                                           seconds_of(options_.min_samples, options_.rate_hz)),
                               fmt::format("{} ({})", grouped(sound.num_samples),
                                           seconds_of(sound.num_samples, sound.rate_hz))));
  if (duration_s > options_.max_utterance_s)
    return reject(
        out, at_file(kDataLong, file, fmt::format("at most {:.0f} s", options_.max_utterance_s),
                     seconds_of(sound.num_samples, sound.rate_hz)));
  if (duration_s < options_.limits.min_duration_s || duration_s > options_.limits.max_duration_s)
    return filter(out, kFilterDuration);
  if (target_samples / options_.hop_samples > options_.limits.max_mel_frames)
    return filter(out, kFilterFrames);
}

void SoundCheck::judge_samples(const File& file, const audio::SoundInfo& info, SoundVerdict& out) {
  constexpr std::uint64_t kBlockSamples = 65536;
  // A codec decodes from its start again for each block, so it gives all at once.
  const std::uint64_t block_samples =
      info.format == audio::SoundFormat::kWav ? kBlockSamples : out.sound.num_samples;
  SampleStatistics statistics;
  for (std::uint64_t done = 0; done < out.sound.num_samples;) {
    const std::uint64_t count = std::min(block_samples, out.sound.num_samples - done);
    samples_.resize(count);
    auto read = reader_.read_float(file, info, out.sound.first_sample + done, samples_);
    if (!read.ok()) return reject(out, read.error());
    statistics.add(samples_);
    done += count;
  }
  auto after = file.info();
  if (!after.ok()) return reject(out, std::move(after).error());
  if (after->size_bytes != info.file_bytes || after->mtime_ns != info.file.mtime_ns)
    return reject(out, at_file(audio::kWavChanged, file,
                               fmt::format("{} bytes, as when opened", grouped(info.file_bytes)),
                               fmt::format("{} bytes, or other ones, after reading",
                                           grouped(after->size_bytes))));
  out.content = statistics.digest();
  for (Error& oddity : statistics.oddities()) {
    oddity.place.file = file.path();
    out.oddities.push_back(std::move(oddity));
  }
}

}  // namespace stoker::data
