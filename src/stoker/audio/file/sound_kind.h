// Tells what a file is by its first bytes, so that a message can name it and a reader be chosen.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace stoker::audio {

inline constexpr std::string_view kUnknownKind = "unknown content";

enum class SoundKind { kWav, kFlac, kOgg, kMp3, kOther };

// By the first bytes of a file; 64 of them are enough.
SoundKind sound_kind(std::span<const std::byte> head) noexcept;

// Empty for a WAV file; otherwise words for people: "RF64 (64-bit WAV)", "an HTML page" …,
// kUnknownKind for what no rule knows.
std::string_view sound_kind_name(std::span<const std::byte> head) noexcept;

}  // namespace stoker::audio
