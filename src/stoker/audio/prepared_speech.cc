#include "stoker/audio/prepared_speech.h"

#include <fmt/format.h>

#include <cmath>

#include "stoker/audio/errors.h"
#include "stoker/audio/file/wav_format.h"
#include "stoker/audio/file/wav_samples.h"
#include "stoker/audio/pcm16.h"
#include "stoker/base/invariant.h"
#include "stoker/base/number_text.h"

namespace stoker::audio {

PreparedSpeech::PreparedSpeech(const SpeechRule& rule) : rule_(rule) {
  if (rule.level == LevelRule::kLufs) meter_.emplace(rule.rate_hz);
}

Result<std::span<const std::int16_t>> PreparedSpeech::load(const File& file, const SoundInfo& info,
                                                           std::uint64_t first_sample,
                                                           std::uint64_t num_samples) {
  if (Result<void> done = read(file, info, first_sample, num_samples); !done) return done.error();
  return finish(info);
}

Result<void> PreparedSpeech::read(const File& file, const SoundInfo& info,
                                  std::uint64_t first_sample, std::uint64_t num_samples) {
  num_read_ = num_samples;
  if (only_reads(info)) return reader_.read_pcm16(file, info, first_sample, pcm_room(num_samples));
  raw_.resize(num_samples);
  return reader_.read_float(file, info, first_sample, raw_);
}

std::span<const std::int16_t> PreparedSpeech::finish(const SoundInfo& info) {
  return only_reads(info) ? pcm_room(num_read_) : process_raw(info.rate_hz);
}

Result<std::span<const std::int16_t>> PreparedSpeech::prepare(const InterleavedSamples& samples,
                                                              std::uint32_t rate_hz) {
  const std::size_t block_bytes = std::size_t{sample_bytes(samples.format)} * samples.num_channels;
  const std::size_t num_samples = samples.bytes.size() / block_bytes;
  const bool is_kept = keeps_samples_of(rate_hz);
  if (!is_kept) raw_.resize(num_samples);
  const std::size_t bad =
      is_kept ? to_mono_pcm16(samples, pcm_room(num_samples)) : to_mono_float(samples, raw_);
  if (bad != kAllFinite)
    return Error{.code = &kWavNonFinite,
                 .promised = "finite samples",
                 .found = fmt::format("NaN or infinity at sample {}", grouped(bad))};
  return is_kept ? std::span<const std::int16_t>(pcm_room(num_samples)) : process_raw(rate_hz);
}

bool PreparedSpeech::only_reads(const SoundInfo& info) const noexcept {
  return keeps_samples_of(info.rate_hz);
}

bool PreparedSpeech::keeps_samples_of(std::uint32_t rate_hz) const noexcept {
  return rate_hz == rule_.rate_hz && !rule_.trim && rule_.level == LevelRule::kNone;
}

std::span<std::int16_t> PreparedSpeech::pcm_room(std::size_t num_samples) {
  if (pcm_.size() < num_samples) pcm_.resize(num_samples);
  return std::span(pcm_).first(num_samples);
}

Result<void> PreparedSpeech::stream(const File& file, const SoundInfo& info,
                                    std::uint64_t first_sample, std::span<std::int16_t> out) {
  check_invariant(only_reads(info), "speech that is prepared needs room of its own");
  return reader_.stream_pcm16(file, info, first_sample, out);
}

std::span<const std::int16_t> PreparedSpeech::process_raw(std::uint32_t rate_hz) {
  std::span<float> speech = raw_;
  if (rate_hz != rule_.rate_hz) {
    Resampler& resampler = resamplers_.try_emplace(rate_hz, rate_hz, rule_.rate_hz).first->second;
    resampled_.resize(resampler.num_out(raw_.size()));
    resampler.run(raw_, resampled_);
    speech = resampled_;
  }
  if (rule_.trim) {
    const SampleRange range = find_speech(speech, *rule_.trim);
    speech = speech.subspan(range.first, range.count);
  }
  apply_gain(speech, gain_for(speech));
  const std::span<std::int16_t> out = pcm_room(speech.size());
  to_pcm16(speech, out);
  return out;
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
