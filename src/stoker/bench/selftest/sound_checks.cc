#include "stoker/bench/selftest/sound_checks.h"

#include <fmt/format.h>
#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "stoker/audio/file/sound_file.h"
#include "stoker/audio/mel/log_mel.h"
#include "stoker/audio/resample.h"
#include "stoker/bench/mel_reference.h"
#include "stoker/observe/feed_limits.h"
#include "stoker/text/tokenizer.h"

namespace stoker::bench {
namespace {

constexpr int kRateHz = 24000;
constexpr std::size_t kNumSamples = 24000;

struct CodedKind {
  const char* name;
  int format;
  bool is_exact;  // every sample comes back as it was
};
constexpr std::array kKinds{CodedKind{"wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, true},
                            CodedKind{"flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, true},
                            CodedKind{"ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS, false},
                            CodedKind{"opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, false},
                            CodedKind{"mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, false}};

// A file in memory, as libsndfile writes it.
struct MemoryFile {
  std::vector<std::byte> bytes{};
  sf_count_t at = 0;
};
MemoryFile& file_of(void* user) { return *static_cast<MemoryFile*>(user); }
sf_count_t length_of(void* user) { return static_cast<sf_count_t>(file_of(user).bytes.size()); }
sf_count_t tell(void* user) { return file_of(user).at; }
sf_count_t seek(sf_count_t by, int from, void* user) {
  MemoryFile& file = file_of(user);
  const sf_count_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? file.at : length_of(user);
  return file.at = std::max<sf_count_t>(0, base + by);
}
sf_count_t read(void* into, sf_count_t count, void* user) {
  MemoryFile& file = file_of(user);
  const sf_count_t num = std::clamp<sf_count_t>(length_of(user) - file.at, 0, count);
  if (num > 0) std::memcpy(into, file.bytes.data() + file.at, static_cast<std::size_t>(num));
  file.at += num;
  return num;
}
sf_count_t write(const void* from, sf_count_t count, void* user) {
  MemoryFile& file = file_of(user);
  const auto end = static_cast<std::size_t>(file.at + count);
  if (file.bytes.size() < end) file.bytes.resize(end);
  std::memcpy(file.bytes.data() + file.at, from, static_cast<std::size_t>(count));
  file.at += count;
  return count;
}

// Nothing where this libsndfile has no such encoder.
std::optional<std::vector<std::byte>> encoded(const CodedKind& kind,
                                              std::span<const std::int16_t> samples) {
  SF_INFO info{};
  info.samplerate = kRateHz;
  info.channels = 1;
  info.format = kind.format;
  if (sf_format_check(&info) == 0) return std::nullopt;
  SF_VIRTUAL_IO calls{&length_of, &seek, &read, &write, &tell};
  MemoryFile file;
  SNDFILE* const sound = sf_open_virtual(&calls, SFM_WRITE, &info, &file);
  if (sound == nullptr) return std::nullopt;
  sf_writef_short(sound, samples.data(), static_cast<sf_count_t>(samples.size()));
  if (sf_close(sound) != 0) return std::nullopt;
  return std::move(file.bytes);
}

std::vector<std::int16_t> speech() {
  std::vector<std::int16_t> clip = observe::measuring_clip();
  clip.resize(kNumSamples);
  return clip;
}

double rms_of(std::span<const std::int16_t> samples) {
  double sum = 0;
  for (const std::int16_t each : samples) sum += static_cast<double>(each) * each;
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, samples.size())));
}

std::vector<std::int16_t> decoded(const SelftestPlace& place, const std::string& name) {
  const File file = open_file(*place.io, place.folder + "/" + name, OpenFor::kRead).take_or_raise();
  const audio::SoundInfo info = audio::read_sound_info(file).take_or_raise();
  std::vector<std::int16_t> samples(info.num_samples);
  audio::SoundReader().read_pcm16(file, info, 0, samples).take_or_raise();
  return samples;
}

void compare(const CodedKind& kind, const std::vector<std::int16_t>& given,
             const std::vector<std::int16_t>& found) {
  if (kind.is_exact)
    return expect(found == given, fmt::format("{}: the samples that were written", kind.name),
                  "others");
  const double loudness = rms_of(found) / rms_of(given);
  const double length = static_cast<double>(found.size()) / static_cast<double>(given.size());
  expect(std::abs(loudness - 1) < 0.1 && std::abs(length - 1) < 0.1,
         fmt::format("{}: sound as long and as loud as what was written", kind.name),
         fmt::format("{:.0f} % of its length, {:.0f} % of its loudness", 100 * length,
                     100 * loudness));
}

}  // namespace

std::string check_decoding(const SelftestPlace& place) {
  const std::vector<std::int16_t> given = speech();
  const File folder = open_file(*place.io, place.folder, OpenFor::kFolder).take_or_raise();
  std::string read, without;
  for (const CodedKind& kind : kKinds) {
    const auto bytes = encoded(kind, given);
    if (!bytes) {
      without += fmt::format("; no encoder for {} here", kind.name);
      continue;
    }
    const std::string name = std::string("sound.") + kind.name;
    publish_file(folder, name, *bytes).take_or_raise();
    compare(kind, given, decoded(place, name));
    read += fmt::format("{}{}", read.empty() ? "" : ", ", kind.name);
  }
  return read + without;
}

std::string check_resampling(const SelftestPlace&) {
  constexpr std::uint32_t kFromHz = 44100, kToHz = 22050;
  constexpr double kToneHz = 1000;
  const auto tone = [](std::size_t i, std::uint32_t rate_hz) {
    return static_cast<float>(
        0.5 * std::sin(2 * std::numbers::pi * kToneHz * static_cast<double>(i) / rate_hz));
  };
  std::vector<float> in(kFromHz);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = tone(i, kFromHz);
  audio::Resampler resampler(kFromHz, kToHz);
  std::vector<float> out(resampler.num_out(in.size()));
  resampler.run(in, out);
  double largest = 0;
  for (std::size_t i = out.size() / 4; i < out.size() * 3 / 4; ++i)
    largest = std::max(largest, std::abs(static_cast<double>(out[i]) - tone(i, kToHz)));
  const double db = 20 * std::log10(std::max(largest, 1e-12) / 0.5);
  expect(db < -80, "a tone within -80 dB of itself at half the rate", fmt::format("{:.0f} dB", db));
  return fmt::format("44,100 to 22,050 Hz, error {:.0f} dB", db);
}

std::string check_mel(const SelftestPlace&) {
  const SimdLevel level = simd_level().take_or_raise();
  std::vector<std::int16_t> clip = observe::measuring_clip();
  clip.erase(clip.begin(), clip.begin() + static_cast<std::ptrdiff_t>(clip.size() / 2));
  clip.resize(8192);
  const audio::LogMel mel(config::MelRecipe{}, level);
  std::vector<float> values(mel.num_frames(clip.size()) * mel.num_mels());
  auto workspace = mel.make_workspace(clip.size());
  mel.run(clip, audio::mel_view(values, mel.num_mels()), workspace);
  const MelReference reference = mel_reference(mel.recipe(), unit_samples(clip));
  const MelDifference difference = compare_mel(mel.recipe(), reference, values);
  expect(within_tolerance(mel.recipe(), difference), "a mel within 1e-4 of direct sums",
         fmt::format("{:.1e}, mean {:.1e}", difference.largest_loud, difference.mean));
  return fmt::format("{} frames by {}, largest difference {:.1e}", reference.num_frames,
                     simd_level_name(level), difference.largest_loud);
}

std::string check_text(const SelftestPlace&) {
  struct Case {
    const char* language;
    const char* text;
    const char* spoken;  // a part of what it is read as
  };
  std::size_t num_ids = 0;
  for (const Case& each : {Case{"en", "Dr. Smith paid $3.50", "Doctor Smith paid three dollars"},
                           Case{"fa", "سلام دنیا", "سلام"}}) {
    text::TokenizerOptions options;
    options.language = each.language;
    const text::Tokenizer tokenizer(options);
    text::TokenizeScratch scratch;
    std::vector<std::int32_t> ids;
    const text::TokenizeOutcome outcome = tokenizer.tokenize(each.text, scratch, ids);
    expect(outcome == text::TokenizeOutcome::kDone &&
               scratch.normalized.find(each.spoken) != std::string::npos,
           fmt::format("\"{}\" in \"{}\"", each.spoken, each.text), scratch.normalized);
    num_ids += ids.size();
  }
  return fmt::format("English and Persian, {} ids", num_ids);
}

}  // namespace stoker::bench
