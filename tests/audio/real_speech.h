// Real recordings for tests of accuracy: what f32 loses shows in speech, not in noise.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/audio/file/sound_file.h"

namespace stoker::audio {

inline constexpr std::string_view kNoRealSpeech =
    "STOKER_TEST_DATA names no folder with recordings";

// Recordings in the folder that STOKER_TEST_DATA names; of each a second from its middle.
inline std::vector<std::vector<std::int16_t>> real_speech() {
  std::vector<std::vector<std::int16_t>> pieces;
  const char* const folder = std::getenv("STOKER_TEST_DATA");
  if (folder == nullptr) return pieces;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".wav" || pieces.size() == 2) continue;
    const File file = open_file(system_io(), entry.path().string(), OpenFor::kRead).take_or_raise();
    const Result<SoundInfo> info = read_sound_info(file);
    if (!info || info->sample_format != SampleFormat::kS16 || info->num_channels != 1 ||
        info->num_samples < 44100)
      continue;
    std::vector<std::int16_t> second(22050);
    SoundReader().read_pcm16(file, *info, info->num_samples / 2 - 11025, second).take_or_raise();
    pieces.push_back(std::move(second));
  }
  return pieces;
}

}  // namespace stoker::audio
