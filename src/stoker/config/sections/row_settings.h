// Settings that leave rows out and group them: limits of length, speakers.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "stoker/config/field.h"

namespace stoker::config {

// Rows outside the limits are filtered: counted apart from rejects.
struct RowSettings {
  static constexpr std::string_view kSection = "data";
  static constexpr std::string_view kTitle = "Rows";

  double min_audio_s = 0.0;
  Maybe<double> max_audio_s;
  std::int64_t min_text_length = 0;
  Maybe<std::int64_t> max_text_length;
  Maybe<std::int64_t> max_text_tokens;
  Maybe<std::int64_t> max_mel_frames;
  double text_rate_factor = 4.0;
  bool enable_multispeaker = false;
  std::string speaker_id_pattern;
  std::int64_t max_speakers = 1000;

  static constexpr auto fields() {
    using C = RowSettings;
    constexpr double kDaySeconds = 86400.0;
    constexpr std::int64_t kMany = 1'000'000'000;
    return std::tuple{
        field("min_audio_length", &C::min_audio_s, {0.0, kDaySeconds}, "Shorter rows are left out.")
            .unit("s"),
        field("max_audio_length", &C::max_audio_s, {0.0, kDaySeconds}, "Longer rows are left out.")
            .unit("s"),
        field("min_text_length", &C::min_text_length, {0, kMany},
              "Rows with fewer characters are left out.")
            .unit("characters"),
        field("max_text_length", &C::max_text_length, {1, kMany},
              "Rows with more characters are left out.")
            .unit("characters"),
        field("max_text_tokens", &C::max_text_tokens, {1, kMany},
              "Rows with more tokens are left out.")
            .unit("tokens"),
        field("max_mel_frames", &C::max_mel_frames, {1, kMany},
              "Rows with more mel frames are left out.")
            .unit("frames"),
        field("text_rate_factor", &C::text_rate_factor, {1.5, 1000.0},
              "Rows whose characters per second differ from the median by more than this factor "
              "are listed as suspicious."),
        field("enable_multispeaker", &C::enable_multispeaker, "Give each row a speaker index."),
        field("speaker_id_pattern", &C::speaker_id_pattern,
              "Regular expression on the id whose group 1 is the speaker."),
        field("max_speakers", &C::max_speakers, {1, 10'000'000}, "More speakers are an error."),
    };
  }
};

}  // namespace stoker::config
