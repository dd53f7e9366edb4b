// Real recordings for tests of accuracy: what f32 loses shows in speech, not in noise.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "stoker/audio/file/wav_file.h"

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
    WavBuffer buffer;
    const File file = open_file(system_io(), entry.path().string(), OpenFor::kRead).take_or_raise();
    const Result<WavView> wav = load_wav(file, buffer);
    if (!wav || wav->pcm16().size() < 44100) continue;
    const auto second = wav->pcm16().subspan(wav->pcm16().size() / 2 - 11025, 22050);
    pieces.emplace_back(second.begin(), second.end());
  }
  return pieces;
}

}  // namespace stoker::audio
