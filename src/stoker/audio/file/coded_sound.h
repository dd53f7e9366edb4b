// Compressed sound files (FLAC, Ogg Vorbis, Opus, MP3): structure checked by us, samples decoded by
// libsndfile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stoker/audio/file/byte_window.h"
#include "stoker/audio/file/sound_file.h"
#include "stoker/base/io/io.h"
#include "stoker/base/result.h"

namespace stoker::audio {

// Walks the whole file once: page and frame checksums, promised against held, the end mark. The
// length is the decoder's, in samples of one channel.
Result<SoundInfo> read_coded_info(const File& file, SoundFormat format, const SoundPolicy& policy);

// Decodes samples [first_sample, first_sample + count) of every channel into `scratch`, seeking to
// them: FLAC as left-justified 32-bit integers, which hold every depth exactly, the lossy kinds as
// float. A whole FLAC file is also compared with the MD5 its encoder took. E-SOUND-DECODE when the
// decoder stops early.
Result<InterleavedSamples> load_coded(const File& file, const SoundInfo& info,
                                      std::uint64_t first_sample, std::size_t count,
                                      std::vector<std::byte>& scratch);

// What a FLAC file promises in its first block.
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

// The pages of an Ogg file, each with its checksum and number.
struct OggStream {
  std::string codec;  // "Vorbis", "Opus", "FLAC" or "unknown"
  std::uint64_t num_pages = 0;
  std::uint64_t last_granule = 0;  // Vorbis: samples; Opus: samples at 48 kHz with the pre-skip
};

// E-OGG-PAGE for a damaged or missing page, E-OGG-TRUNC for a file without its last page,
// E-OGG-CHAINED for several streams in one file.
Result<OggStream> check_ogg_pages(ByteWindow& window);

// The frames of an MP3 file, walked header by header, so that a cut or a hole is seen before
// decoding.
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
