// What a FLAC file promises in its first block, checked against its last frame without decoding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stoker/audio/file/byte_window.h"
#include "stoker/base/result.h"

namespace stoker::audio {

struct FlacStream {
  std::uint32_t rate_hz = 0;
  std::uint32_t num_channels = 0;
  std::uint32_t bits_per_sample = 0;
  std::uint64_t num_samples = 0;    // 0: the encoder did not know
  std::array<std::byte, 16> md5{};  // of the decoded samples; all zero: not taken
  std::uint64_t frames_at_bytes = 0;

  bool has_md5() const noexcept { return md5 != std::array<std::byte, 16>{}; }
};

// The metadata blocks alone. E-FLAC-HEADER.
Result<FlacStream> read_flac_head(ByteWindow& window);

// Walks the metadata blocks and finds the last frame: its CRC-16 must hold up to the end of the
// file, and its last sample must be the promised one. E-FLAC-HEADER, E-FLAC-TRUNC.
Result<FlacStream> check_flac_stream(ByteWindow& window);

}  // namespace stoker::audio
