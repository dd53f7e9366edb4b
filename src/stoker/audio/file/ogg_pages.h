// The pages of an Ogg file: every checksum, the numbering and the end mark, without decoding.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/audio/file/byte_window.h"
#include "stoker/base/result.h"

namespace stoker::audio {

struct OggStream {
  std::string codec;  // "Vorbis", "Opus", "FLAC" or "unknown"
  std::uint64_t num_pages = 0;
  std::uint64_t last_granule = 0;  // Vorbis: samples; Opus: samples at 48 kHz with the pre-skip
};

// E-OGG-PAGE for a damaged or missing page, E-OGG-TRUNC for a file without its last page,
// E-OGG-CHAINED for several streams in one file.
Result<OggStream> check_ogg_pages(ByteWindow& window);

}  // namespace stoker::audio
