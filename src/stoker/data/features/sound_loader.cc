#include "stoker/data/features/sound_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stoker/audio/errors.h"
#include "stoker/audio/file/sound_kind.h"
#include "stoker/base/number_text.h"

namespace stoker::data {
namespace {

constexpr std::uint64_t kMaxWholeBytes = std::uint64_t{64} << 20U;
constexpr std::size_t kHashBlockBytes = 1 << 20;

Error changed(const File& file, std::uint64_t promised_bytes, std::uint64_t found_bytes) {
  Error error;
  error.code = &audio::kWavChanged;
  error.place.file = file.path();
  error.promised = fmt::format("{} bytes, as when opened", grouped(promised_bytes));
  error.found = grouped(found_bytes);
  return error;
}

}  // namespace

SoundLoader::SoundLoader(const FeatureSpec& spec) : spec_(spec), prepared_(spec.speech_rule()) {}

Result<OpenSound> SoundLoader::open(const Utterance& utterance) const {
  Result<File> file = spec_.index().open_sound(utterance);
  if (!file) return std::move(file).error();
  Result<audio::SoundInfo> info = audio::read_sound_info(*file, spec_.sound_policy());
  if (!info) return std::move(info).error();
  return OpenSound{utterance, std::move(file).value(), *info};
}

SoundLoader::Samples SoundLoader::load(const OpenSound& sound) {
  return prepared_.load(sound.file, sound.info, sound.utterance.first_sample,
                        sound.utterance.num_samples);
}

Result<void> SoundLoader::decode(const OpenSound& sound) {
  return prepared_.read(sound.file, sound.info, sound.utterance.first_sample,
                        sound.utterance.num_samples);
}

std::span<const std::int16_t> SoundLoader::finish(const OpenSound& sound) {
  return prepared_.finish(sound.info);
}

Result<void> SoundLoader::read_into(const OpenSound& sound, std::span<std::int16_t> out) {
  return prepared_.stream(sound.file, sound.info, sound.utterance.first_sample, out);
}

Result<std::span<const std::byte>> SoundLoader::read_file(const File& file,
                                                          std::uint64_t size_bytes) {
  buffer_.grow(size_bytes + 1);
  // One byte more than promised shows a file that grew.
  Result<std::size_t> got = file.read_at(buffer_.bytes().first(size_bytes + 1), 0);
  if (!got) return std::move(got).error();
  if (*got != size_bytes) return changed(file, size_bytes, *got);
  return std::span<const std::byte>(buffer_.bytes().first(size_bytes));
}

Result<Digest128> SoundLoader::hash_file(const File& file, std::uint64_t size_bytes) {
  buffer_.grow(kHashBlockBytes);
  DigestStream stream;
  for (std::uint64_t at = 0; at < size_bytes;) {
    const auto wanted = std::min<std::uint64_t>(kHashBlockBytes, size_bytes - at);
    Result<std::size_t> got = file.read_at(buffer_.bytes().first(wanted), at);
    if (!got) return std::move(got).error();
    if (*got != wanted) return changed(file, size_bytes, at + *got);
    stream.add(buffer_.bytes().first(wanted));
    at += wanted;
  }
  return stream.finish();
}

Result<Digest128> SoundLoader::hash_segment(const File& file, const Utterance& utterance) {
  Result<audio::SoundInfo> info = audio::read_sound_info(file, spec_.sound_policy());
  if (!info) return std::move(info).error();
  segment_.resize(utterance.num_samples);
  if (Result<void> read =
          segments_.read_pcm16(file, *info, utterance.first_sample, std::span(segment_));
      !read)
    return read.error();
  return digest_of(std::as_bytes(std::span(segment_)));
}

bool SoundLoader::view_wav(std::span<const std::byte> bytes, const Utterance& utterance,
                           LoadedUtterance& out) const {
  const audio::SpeechRule& rule = spec_.speech_rule();
  const bool plain =
      !rule.trim && rule.level == audio::LevelRule::kNone && utterance.rate_hz == rule.rate_hz;
  if (!plain || audio::sound_kind(bytes.first(std::min<std::size_t>(bytes.size(), 64))) !=
                    audio::SoundKind::kWav)
    return false;
  Result<audio::WavHeader> header = audio::parse_wav(bytes, spec_.sound_policy());
  if (!header || header->num_samples != utterance.num_samples) return false;
  const audio::WavView view{*header, bytes.subspan(header->data_at_bytes, header->data_bytes)};
  out.samples = view.pcm16();
  return !out.samples.empty();
}

Result<void> SoundLoader::load_with_digest(const Utterance& utterance, LoadedUtterance& out) {
  out = {};
  Result<File> file = spec_.index().open_sound(utterance);
  if (!file) return std::move(file).error();
  Result<FileInfo> stat = file->info();
  if (!stat) return std::move(stat).error();
  const bool in_memory = !utterance.is_segment && stat->size_bytes <= kMaxWholeBytes;
  if (in_memory) {
    Result<std::span<const std::byte>> bytes = read_file(*file, stat->size_bytes);
    if (!bytes) return std::move(bytes).error();
    out.source = digest_of(*bytes);
    out.source_bytes = bytes->size();
    if (view_wav(*bytes, utterance, out)) return {};
  } else {
    Result<Digest128> source =
        utterance.is_segment ? hash_segment(*file, utterance) : hash_file(*file, stat->size_bytes);
    if (!source) return std::move(source).error();
    out.source = *source;
    out.source_bytes = stat->size_bytes;
  }
  Result<audio::SoundInfo> info = audio::read_sound_info(*file, spec_.sound_policy());
  if (!info) return std::move(info).error();
  Result<std::span<const std::int16_t>> samples =
      prepared_.load(*file, *info, utterance.first_sample, utterance.num_samples);
  if (!samples) return std::move(samples).error();
  out.samples = *samples;
  return {};
}

Result<Digest128> SoundLoader::digest(const Utterance& utterance) {
  Result<File> file = spec_.index().open_sound(utterance);
  if (!file) return std::move(file).error();
  if (utterance.is_segment) return hash_segment(*file, utterance);
  Result<FileInfo> stat = file->info();
  if (!stat) return std::move(stat).error();
  return hash_file(*file, stat->size_bytes);
}

}  // namespace stoker::data
