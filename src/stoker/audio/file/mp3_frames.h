// The frames of an MP3 file, walked header by header, so that a cut or a hole is seen before
// decoding.
#pragma once

#include <cstdint>

#include "stoker/audio/file/byte_window.h"
#include "stoker/base/result.h"

namespace stoker::audio {

struct Mp3Stream {
  std::uint32_t rate_hz = 0;
  std::uint32_t samples_per_frame = 0;  // 1,152, or 576 below 32 kHz
  std::uint64_t num_frames = 0;         // that carry sound
  bool states_length = false;           // a Xing or Info frame promises the count
};

// E-MP3-SYNC for bytes that are no frame, E-MP3-TRUNC for a cut file, E-MP3-KIND for layer I, II or
// free format. Tags (ID3v2 before, ID3v1 and APEv2 after) are passed over.
Result<Mp3Stream> check_mp3_frames(ByteWindow& window);

}  // namespace stoker::audio
