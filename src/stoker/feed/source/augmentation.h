// Gain and noise that a feed draws anew for each utterance and epoch, put into the samples before
// their mel is made.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stoker/audio/augment/augment_batch.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/config/settings.h"

namespace stoker::feed {

// Immutable; thread-safe. The CPU and a GPU make the same bytes of it.
class Augmentation {
 public:
  // Whether the settings change any sample. Mels of a cache are then of no use.
  static bool is_on(const config::AugmentSettings& settings);

  // Null where they change none. Reads the noises, or makes white noise where no folder is named.
  // Throws ConfigError E-FEED-AUGMENT, DataError for a noise that cannot be read.
  static std::shared_ptr<const Augmentation> make(const config::Settings& settings, Io& io);

  struct Key {
    std::uint64_t utterance = 0;  // hash64(id)
    std::uint64_t epoch = 0;
  };
  // `out` is as long as `samples`.
  void apply(const Key& key, std::span<const std::int16_t> samples,
             std::span<std::int16_t> out) const noexcept;

  audio::AugmentRule rule(std::uint64_t epoch) const;
  // The noises one after the other, and where each begins and how long it is.
  std::span<const std::int16_t> noise_samples() const { return samples_; }
  std::span<const std::int64_t> noise_begins() const { return begins_; }
  std::span<const std::int32_t> noise_lengths() const { return lengths_; }
  Digest128 noise_digest() const;

 private:
  explicit Augmentation(const config::Settings& settings);
  void make_white_noise(std::uint32_t rate_hz);
  void read_noises(const std::string& folder_path, std::uint32_t rate_hz, Io& io);
  void add_noise(std::span<const std::int16_t> samples);

  audio::AugmentRule rule_;
  std::vector<std::int16_t> samples_;
  std::vector<std::int64_t> begins_;
  std::vector<std::int32_t> lengths_;
};

}  // namespace stoker::feed
