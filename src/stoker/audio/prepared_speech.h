// The one road from a sound file to the samples that features are made of: PCM16, one channel, one
// rate.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "stoker/audio/file/sound_file.h"
#include "stoker/audio/loudness.h"
#include "stoker/audio/resample.h"
#include "stoker/audio/trim.h"

namespace stoker::audio {

enum class LevelRule { kNone, kLufs, kRms, kPeak };

struct SpeechRule {
  std::uint32_t rate_hz = 22050;
  std::optional<TrimRule> trim{};
  LevelRule level = LevelRule::kNone;
  double target = 0;  // LUFS, dBFS or the peak itself, as `level` says
};

// Features are always computed from what this returns, never from wider samples: so a cached mel, a
// mel from cached PCM and a mel from the file itself are the same bytes. PCM16 at the asked rate
// with no rule passes untouched.
//
// One object a worker; it keeps its memory and its resamplers. Not thread-safe.
class PreparedSpeech {
 public:
  explicit PreparedSpeech(const SpeechRule& rule);

  // Samples [first_sample, first_sample + num_samples) of the file, resampled, trimmed and
  // levelled. The view lives until the next call.
  Result<std::span<const std::int16_t>> load(const File& file, const SoundInfo& info,
                                             std::uint64_t first_sample, std::uint64_t num_samples);

  // load() in two steps, for those who time them: what the file holds, then what is made of it.
  Result<void> read(const File& file, const SoundInfo& info, std::uint64_t first_sample,
                    std::uint64_t num_samples);
  std::span<const std::int16_t> finish(const SoundInfo& info);

  // The same of samples in memory, as of a file that holds them. E-WAV-NONFINITE as there.
  Result<std::span<const std::int16_t>> prepare(const InterleavedSamples& samples,
                                                std::uint32_t rate_hz);

  // Whether load() has nothing to do but read the samples: as many as are asked for.
  bool only_reads(const SoundInfo& info) const noexcept;

  // As load(), out.size() samples straight into memory that this thread will not read.
  // Precondition: only_reads(info).
  Result<void> stream(const File& file, const SoundInfo& info, std::uint64_t first_sample,
                      std::span<std::int16_t> out);

  // How many samples load() will give, where that is known before reading: not with trimming.
  static std::optional<std::uint64_t> num_prepared(const SpeechRule& rule, std::uint32_t rate_hz,
                                                   std::uint64_t num_samples) noexcept;

 private:
  bool keeps_samples_of(std::uint32_t rate_hz) const noexcept;
  std::span<std::int16_t> pcm_room(std::size_t num_samples);
  std::span<const std::int16_t> process_raw(std::uint32_t rate_hz);
  double gain_for(std::span<const float> samples);

  SpeechRule rule_;
  SoundReader reader_;
  std::optional<LoudnessMeter> meter_;             // where loudness is levelled
  std::map<std::uint32_t, Resampler> resamplers_;  // by the file's rate
  std::size_t num_read_ = 0;
  std::vector<std::int16_t> pcm_;
  std::vector<float> raw_;
  std::vector<float> resampled_;
};

}  // namespace stoker::audio
