// Compressed sound files (FLAC, Ogg Vorbis, Opus, MP3): structure checked by us, samples decoded by
// libsndfile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

}  // namespace stoker::audio
