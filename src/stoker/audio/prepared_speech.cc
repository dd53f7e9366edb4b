#include "stoker/audio/prepared_speech.h"

#include <cmath>

#include "stoker/audio/pcm16.h"
#include "stoker/base/invariant.h"

namespace stoker::audio {

PreparedSpeech::PreparedSpeech(const SpeechRule& rule) : rule_(rule) {
  if (rule.level == LevelRule::kLufs) meter_.emplace(rule.rate_hz);
}

Result<std::span<const std::int16_t>> PreparedSpeech::load(const File& file, const SoundInfo& info,
                                                           std::uint64_t first_sample,
                                                           std::uint64_t num_samples) {
  if (!only_reads(info)) return load_processed(file, info, first_sample, num_samples);
  if (pcm_.size() < num_samples) pcm_.resize(num_samples);
  const std::span<std::int16_t> out = std::span(pcm_).first(num_samples);
  if (Result<void> read = reader_.read_pcm16(file, info, first_sample, out); !read)
    return read.error();
  return std::span<const std::int16_t>(out);
}

bool PreparedSpeech::only_reads(const SoundInfo& info) const noexcept {
  return info.rate_hz == rule_.rate_hz && !rule_.trim && rule_.level == LevelRule::kNone;
}

Result<void> PreparedSpeech::stream(const File& file, const SoundInfo& info,
                                    std::uint64_t first_sample, std::span<std::int16_t> out) {
  check_invariant(only_reads(info), "speech that is prepared needs room of its own");
  return reader_.stream_pcm16(file, info, first_sample, out);
}

Result<std::span<const std::int16_t>> PreparedSpeech::load_processed(const File& file,
                                                                     const SoundInfo& info,
                                                                     std::uint64_t first_sample,
                                                                     std::uint64_t num_samples) {
  raw_.resize(num_samples);
  if (Result<void> read = reader_.read_float(file, info, first_sample, raw_); !read)
    return read.error();
  std::span<float> speech = raw_;
  if (info.rate_hz != rule_.rate_hz) {
    Resampler& resampler =
        resamplers_.try_emplace(info.rate_hz, info.rate_hz, rule_.rate_hz).first->second;
    resampled_.resize(resampler.num_out(num_samples));
    resampler.run(raw_, resampled_);
    speech = resampled_;
  }
  if (rule_.trim) {
    const SampleRange range = find_speech(speech, *rule_.trim);
    speech = speech.subspan(range.first, range.count);
  }
  apply_gain(speech, gain_for(speech));
  if (pcm_.size() < speech.size()) pcm_.resize(speech.size());
  const std::span<std::int16_t> out = std::span(pcm_).first(speech.size());
  to_pcm16(speech, out);
  return std::span<const std::int16_t>(out);
}

double PreparedSpeech::gain_for(std::span<const float> samples) {
  switch (rule_.level) {
    case LevelRule::kLufs:
      return gain_to_lufs(meter_->integrated_lufs(samples), rule_.target, peak_of(samples),
                          kMinusOneDbfs);
    case LevelRule::kRms:
      return gain_to_rms(rms_of(samples), std::pow(10.0, rule_.target / 20.0), peak_of(samples),
                         kMinusOneDbfs);
    case LevelRule::kPeak:
      return gain_to_peak(peak_of(samples), rule_.target);
    case LevelRule::kNone:
      break;
  }
  return 1.0;
}

std::optional<std::uint64_t> PreparedSpeech::num_prepared(const SpeechRule& rule,
                                                          std::uint32_t rate_hz,
                                                          std::uint64_t num_samples) noexcept {
  if (rule.trim) return std::nullopt;
  return (num_samples * rule.rate_hz + rate_hz / 2) / rate_hz;
}

}  // namespace stoker::audio
