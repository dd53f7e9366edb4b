// From an utterance's file to its digest and its PCM16 samples in one read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/audio/file/wav_file.h"
#include "stoker/audio/prepared_speech.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/result.h"
#include "stoker/data/index.h"

namespace stoker::cache {

struct LoadedUtterance {
  Digest128 source;  // set as soon as the source could be read, even if it cannot be used
  std::uint64_t source_bytes = 0;
  std::span<const std::int16_t> samples;  // lives until the next call
};

// One a worker: it keeps its memory. Files up to 64 MiB are read once, hashed and decoded in
// memory when they are PCM16 WAV at the right rate; others are hashed and then decoded by their
// own reader. The digest of a segment of a longer file is that of its own samples.
class UtteranceLoader {
 public:
  UtteranceLoader(const data::Index& index, const audio::SpeechRule& rule,
                  const audio::SoundPolicy& policy);

  Result<void> load(const data::Utterance& utterance, LoadedUtterance& out);
  Result<Digest128> digest(const data::Utterance& utterance);

 private:
  Result<std::span<const std::byte>> read_file(const File& file, std::uint64_t size_bytes);
  Result<Digest128> hash_file(const File& file, std::uint64_t size_bytes);
  Result<Digest128> hash_segment(const File& file, const data::Utterance& utterance);
  bool view_wav(std::span<const std::byte> bytes, const data::Utterance& utterance,
                LoadedUtterance& out) const;

  const data::Index& index_;
  audio::SpeechRule rule_;
  audio::SoundPolicy policy_;
  audio::PreparedSpeech prepared_;
  audio::SoundReader segments_;
  audio::WavBuffer buffer_;
  std::vector<std::int16_t> segment_;
};

}  // namespace stoker::cache
