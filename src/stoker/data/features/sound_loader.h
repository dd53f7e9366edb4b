// The one loader from an utterance's file to its PCM16 samples: for a cache that is being built,
// which also needs the file's digest, and for a feed that reads files.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/audio/file/wav_file.h"
#include "stoker/audio/prepared_speech.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/data/features/feature_spec.h"

namespace stoker::data {

// An utterance's file and what its header says.
struct OpenSound {
  Utterance utterance;
  File file;
  audio::SoundInfo info;
};

struct LoadedUtterance {
  Digest128 source;  // set as soon as the source could be read, even if it cannot be used
  std::uint64_t source_bytes = 0;
  std::span<const std::int16_t> samples;  // lives until the next call
};

// One a worker, because it keeps its memory. The spec must outlive it.
class SoundLoader {
 public:
  using Samples = Result<std::span<const std::int16_t>>;

  explicit SoundLoader(const FeatureSpec& spec);

  Result<OpenSound> open(const Utterance& utterance) const;
  // The samples as the speech rule prepares them; they live until the next call.
  Samples load(const OpenSound& sound);
  // load() in two steps: the file's samples, then what the rule makes of them.
  Result<void> decode(const OpenSound& sound);
  std::span<const std::int16_t> finish(const OpenSound& sound);
  // Whether the file's samples are the prepared ones, so that read_into() does without a copy.
  bool only_reads(const OpenSound& sound) const { return prepared_.only_reads(sound.info); }
  // Precondition: only_reads(sound), and `out` holds the utterance's samples.
  Result<void> read_into(const OpenSound& sound, std::span<std::int16_t> out);

  // Digest and samples in one read. Files up to 64 MiB are read once, hashed and decoded in memory
  // when they are PCM16 WAV at the right rate; others are hashed and then decoded by their own
  // reader. The digest of a segment of a longer file is that of its own samples.
  Result<void> load_with_digest(const Utterance& utterance, LoadedUtterance& out);
  Result<Digest128> digest(const Utterance& utterance);

 private:
  Result<std::span<const std::byte>> read_file(const File& file, std::uint64_t size_bytes);
  Result<Digest128> hash_file(const File& file, std::uint64_t size_bytes);
  Result<Digest128> hash_segment(const File& file, const Utterance& utterance);
  bool view_wav(std::span<const std::byte> bytes, const Utterance& utterance,
                LoadedUtterance& out) const;

  const FeatureSpec& spec_;
  audio::PreparedSpeech prepared_;
  audio::SoundReader segments_;
  audio::WavBuffer buffer_;
  std::vector<std::int16_t> segment_;
};

}  // namespace stoker::data
