#include "stoker/feed/source/augmentation.h"

#include <algorithm>
#include <string>

#include "stoker/audio/prepared_speech.h"
#include "stoker/base/checked.h"
#include "stoker/base/io/paths.h"
#include "stoker/base/number_text.h"
#include "stoker/base/philox.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/utterance_source.h"

namespace stoker::feed {
namespace {

constexpr std::uint32_t kWhiteNoiseSeconds = 10;
constexpr std::uint64_t kMostNoiseBytes = 512 * config::kMiB;

bool is_fixed_at(const config::Interval& range, double value) {
  return range[0] == value && range[1] == value;
}

audio::Range range_of(const config::Interval& range) { return {range[0], range[1]}; }

bool mixes_noise(const config::AugmentSettings& settings) {
  return settings.enable_noise_mixing && settings.noise_mixing_probability > 0;
}

std::vector<std::string> names_in(const File& folder) {
  std::vector<std::string> names;
  for (FolderEntry& entry : list_folder(folder).take_or_raise()) {
    if (entry.kind == FileKind::kRegular) names.push_back(std::move(entry.name));
  }
  return names;
}

}  // namespace

bool Augmentation::is_on(const config::AugmentSettings& settings) {
  return mixes_noise(settings) || !is_fixed_at(settings.gain_db, 0.0);
}

std::shared_ptr<const Augmentation> Augmentation::make(const config::Settings& settings, Io& io) {
  if (!is_on(settings.augment)) return nullptr;
  const std::shared_ptr<Augmentation> made(new Augmentation(settings));
  if (!mixes_noise(settings.augment)) return made;
  const auto rate_hz =
      static_cast<std::uint32_t>(config::recipe_of(settings.features).sample_rate_hz);
  if (settings.augment.noise_dir.empty()) {
    made->make_white_noise(rate_hz);
  } else {
    made->read_noises(settings.augment.noise_dir, rate_hz, io);
  }
  return made;
}

Augmentation::Augmentation(const config::Settings& settings)
    : rule_{.seed = static_cast<std::uint64_t>(settings.run.seed),
            .epoch = 0,
            .gain_db = range_of(settings.augment.gain_db),
            .noise_probability =
                mixes_noise(settings.augment) ? settings.augment.noise_mixing_probability : 0.0,
            .snr_db = range_of(settings.augment.noise_mixing_snr_db)} {}

// The sum of four uniform draws is close enough to a normal one, and the same on every machine.
void Augmentation::make_white_noise(std::uint32_t rate_hz) {
  KeyedDraws draws({rule_.seed, "white noise", 0, 0});
  std::vector<std::int16_t> noise(std::size_t{kWhiteNoiseSeconds} * rate_hz);
  for (std::int16_t& sample : noise) {
    std::int32_t sum = 0;
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t two = draws.next_u32();
      sum += static_cast<std::int32_t>(two & 0x3FFFU) + static_cast<std::int32_t>(two >> 18U);
    }
    sample = static_cast<std::int16_t>(sum - 2 * 0x3FFF);
  }
  add_noise(noise);
}

void Augmentation::read_noises(const std::string& folder_path, std::uint32_t rate_hz, Io& io) {
  const File folder = open_file(io, folder_path, OpenFor::kFolder).take_or_raise();
  audio::PreparedSpeech sounds({.rate_hz = rate_hz});
  for (const std::string& name : names_in(folder)) {
    const File file = open_beneath(folder, name, OpenFor::kRead).take_or_raise();
    const audio::SoundInfo info = audio::read_sound_info(file).take_or_raise();
    const auto samples = sounds.load(file, info, 0, info.num_samples).take_or_raise();
    if (samples.empty()) {
      raise({.code = &kFeedAugment,
             .place = {.file = file.path()},
             .promised = "noise of at least one sample at " + grouped(rate_hz) + " Hz",
             .found = grouped(info.num_samples) + " at " + grouped(info.rate_hz) + " Hz"});
    }
    add_noise(samples);
    if (samples_.size() * sizeof(std::int16_t) > kMostNoiseBytes) {
      raise({.code = &kFeedAugment,
             .place = {.file = folder_path},
             .promised = "at most " + bytes_text(kMostNoiseBytes) + " of noise",
             .found = "more, at " + name});
    }
  }
  if (lengths_.empty()) {
    raise({.code = &kFeedAugment,
           .place = {.file = folder_path},
           .promised = "recordings of noise",
           .found = "an empty folder"});
  }
}

void Augmentation::add_noise(std::span<const std::int16_t> samples) {
  begins_.push_back(static_cast<std::int64_t>(samples_.size()));
  lengths_.push_back(static_cast<std::int32_t>(samples.size()));
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  samples_.resize(round_up(samples_.size(), kSampleAlignment));
}

audio::AugmentRule Augmentation::rule(std::uint64_t epoch) const {
  audio::AugmentRule rule = rule_;
  rule.epoch = epoch;
  return rule;
}

void Augmentation::apply(const Key& key, std::span<const std::int16_t> samples,
                         std::span<std::int16_t> out) const noexcept {
  constexpr std::int64_t kFirst = 0;
  const auto count = static_cast<std::int32_t>(samples.size());
  audio::augment_batch({.samples = samples.data(),
                        .begins = &kFirst,
                        .lengths = &count,
                        .utterances = &key.utterance,
                        .num_utterances = 1,
                        .max_samples = count,
                        .noises = {.samples = samples_.data(),
                                   .begins = begins_.data(),
                                   .lengths = lengths_.data(),
                                   .num_noises = static_cast<int>(lengths_.size())},
                        .out = out.data()},
                       rule(key.epoch));
}

Digest128 Augmentation::noise_digest() const {
  DigestStream digest;
  for (const std::int32_t length : lengths_) digest.add_number(length);
  digest.add(std::as_bytes(std::span(samples_)));
  return digest.finish();
}

}  // namespace stoker::feed
