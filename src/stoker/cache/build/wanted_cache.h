// The cache that a data set and its settings ask for: manifest head and makers of every record.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/audio/mel/log_mel.h"
#include "stoker/base/io/io.h"
#include "stoker/base/simd_level.h"
#include "stoker/cache/build/array_maker.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/build/index_makers.h"
#include "stoker/config/settings.h"
#include "stoker/data/index.h"

namespace stoker::cache {

// Raised whenever the same settings would give other mels or other tokens than before.
inline constexpr int kMelCodeVersion = 4;
inline constexpr int kTextCodeVersion = 1;

// Manifest head without shards: numeric path, digests, and every setting behind them, code versions
// and vocabulary among them. Needs no index.
Manifest wanted_head(const config::Settings& settings, SimdLevel level);

// Everything needed to build or check the cache. The index must outlive it. Const access is
// thread-safe.
class WantedCache {
 public:
  // Throws ConfigError for settings that cannot be, StorageError for array folders that are not
  // there.
  WantedCache(const config::Settings& settings, const data::Index& index, SimdLevel level, Io& io);

  const BuildTarget& target() const noexcept { return target_; }
  const SortedRows& rows() const noexcept { return rows_; }
  const audio::LogMel& mel() const noexcept { return mel_; }
  // The pronunciations beside the data set; nothing for other vocabularies.
  const text::PhonemeSidecar* phonemes() const noexcept { return phonemes_.get(); }

 private:
  void add_sound_makers(const config::Settings& settings);
  void add_token_maker(const config::Settings& settings, Io& io);
  void add_array_makers(const config::Settings& settings, Io& io);

  SortedRows rows_;
  audio::LogMel mel_;
  std::vector<std::unique_ptr<text::Tokenizer>> tokenizers_;
  std::unique_ptr<text::PhonemeSidecar> phonemes_;
  std::vector<std::unique_ptr<RecordMaker>> makers_;
  BuildTarget target_;
};

}  // namespace stoker::cache
