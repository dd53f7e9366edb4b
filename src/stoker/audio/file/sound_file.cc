#include "stoker/audio/file/sound_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "stoker/audio/errors.h"
#include "stoker/audio/file/coded_sound.h"
#include "stoker/audio/file/sound_kind.h"
#include "stoker/audio/file/wav_file.h"
#include "stoker/audio/file/wav_samples.h"
#include "stoker/base/errors.h"
#include "stoker/base/io/stream_copy.h"
#include "stoker/base/number_text.h"

namespace stoker::audio {
namespace {

struct Suffix {
  std::string_view text;
  SoundFormat format;
};
constexpr std::array<Suffix, 6> kSuffixes{{{".wav", SoundFormat::kWav},
                                           {".flac", SoundFormat::kFlac},
                                           {".ogg", SoundFormat::kOgg},
                                           {".opus", SoundFormat::kOgg},
                                           {".oga", SoundFormat::kOgg},
                                           {".mp3", SoundFormat::kMp3}}};

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::string_view kind_word(FileKind kind) {
  switch (kind) {
    case FileKind::kRegular:
      return "a file";
    case FileKind::kFolder:
      return "a folder";
    case FileKind::kLink:
      return "a symbolic link";
    case FileKind::kPipe:
      return "a pipe (FIFO)";
    case FileKind::kSocket:
      return "a socket";
    case FileKind::kDevice:
      return "a device";
    case FileKind::kOther:
      break;
  }
  return "something else";
}

Error not_a_file(const File& file, FileKind kind) {
  return {.code = &kIoKind,
          .place = {.file = file.path()},
          .promised = "a sound file",
          .found = std::string(kind_word(kind))};
}

Error cut_off(const File& file, const SoundInfo& info, std::uint64_t at_bytes) {
  return {.code = &kWavChanged,
          .place = {.file = file.path(), .byte = at_bytes},
          .promised = fmt::format("{} bytes, as when indexed", grouped(info.file_bytes)),
          .found = grouped(at_bytes)};
}

Error not_finite(const File& file, const SoundInfo& info, std::uint64_t sample) {
  const std::uint64_t block_bytes =
      std::uint64_t{sample_bytes(info.sample_format)} * info.num_channels;
  return {.code = &kWavNonFinite,
          .place = {.file = file.path(), .byte = info.data_at_bytes + sample * block_bytes},
          .promised = "finite samples",
          .found = fmt::format("NaN or infinity at sample {}", grouped(sample))};
}

struct SampleRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// What stays in the second-level cache between the kernel's copy and the one out of it. A read
// straight into memory that no cache holds is slower, since the kernel fetches every line that it
// overwrites: 70 instead of 58 us for 290 KB; steps of half this size cost 1.5 % more.
constexpr std::size_t kStreamBytes = 128 * 1024;

bool is_mono_pcm16(const SoundInfo& info) {
  return info.format == SoundFormat::kWav && info.sample_format == SampleFormat::kS16 &&
         info.num_channels == 1;
}

// A range comes from an index, the file from the disk: it may have been replaced by a shorter one.
Error outside(const File& file, const SoundInfo& info, SampleRange range) {
  return {.code = &kWavChanged,
          .place = {.file = file.path()},
          .promised =
              fmt::format("{} samples from sample {}", grouped(range.count), grouped(range.first)),
          .found = fmt::format("{} in the file", grouped(info.num_samples))};
}

// Reads exactly the bytes of the range.
Result<void> read_range(const File& file, const SoundInfo& info, SampleRange range,
                        std::span<std::byte> into) {
  if (range.first > info.num_samples || range.count > info.num_samples - range.first)
    return outside(file, info, range);
  const std::uint64_t block_bytes =
      std::uint64_t{sample_bytes(info.sample_format)} * info.num_channels;
  const std::uint64_t at_bytes = info.data_at_bytes + range.first * block_bytes;
  auto got = file.read_at(into, at_bytes);
  if (!got.ok()) return std::move(got).error();
  if (*got != into.size()) return cut_off(file, info, at_bytes + *got);
  return {};
}

std::uint32_t odd_suffix(const File& file, SoundFormat format) {
  const auto known = std::find_if(kSuffixes.begin(), kSuffixes.end(), [&](const Suffix& suffix) {
    return file.path().size() >= suffix.text.size() &&
           same_letters(
               std::string_view(file.path()).substr(file.path().size() - suffix.text.size()),
               suffix.text);
  });
  return known != kSuffixes.end() && known->format != format ? kOddSuffix : 0U;
}

// FLAC, Ogg or MP3 by the first bytes; nothing for WAV and for what is no sound at all.
Result<std::optional<SoundFormat>> coded_format(const File& file) {
  std::array<std::byte, 64> head;
  auto got = file.read_at(head, 0);
  if (!got.ok()) return std::move(got).error();
  switch (sound_kind(std::span(head).first(*got))) {
    case SoundKind::kFlac:
      return std::optional(SoundFormat::kFlac);
    case SoundKind::kOgg:
      return std::optional(SoundFormat::kOgg);
    case SoundKind::kMp3:
      return std::optional(SoundFormat::kMp3);
    case SoundKind::kWav:
    case SoundKind::kOther:
      break;
  }
  return std::optional<SoundFormat>();
}

Result<SoundInfo> coded_info(const File& file, SoundFormat format, const SoundPolicy& policy) {
  auto info = read_coded_info(file, format, policy);
  if (info.ok()) info->oddities |= odd_suffix(file, format);
  return info;
}

}  // namespace

Result<SoundInfo> read_sound_info(const File& file, const SoundPolicy& policy) {
  auto info = file.info();
  if (!info.ok()) return std::move(info).error();
  if (info->kind != FileKind::kRegular) return not_a_file(file, info->kind);
  auto coded = coded_format(file);
  if (!coded.ok()) return std::move(coded).error();
  if (*coded) return coded_info(file, **coded, policy);
  auto header = load_wav_header(file, *info, policy);
  if (!header.ok()) return std::move(header).error();
  return SoundInfo{.format = SoundFormat::kWav,
                   .sample_format = header->format.sample_format,
                   .rate_hz = header->format.rate_hz,
                   .num_channels = header->format.num_channels,
                   .num_samples = header->num_samples,
                   .data_at_bytes = header->data_at_bytes,
                   .file_bytes = info->size_bytes,
                   .oddities = header->oddities | odd_suffix(file, SoundFormat::kWav),
                   .file = *info};
}

Result<InterleavedSamples> SoundReader::load(const File& file, const SoundInfo& info,
                                             std::uint64_t first_sample, std::size_t count) {
  if (info.format != SoundFormat::kWav)
    return load_coded(file, info, first_sample, count, scratch_);
  const std::size_t wanted_bytes = count * sample_bytes(info.sample_format) * info.num_channels;
  if (scratch_.size() < wanted_bytes) scratch_.resize(wanted_bytes);
  const auto bytes = std::span(scratch_).first(wanted_bytes);
  auto read = read_range(file, info, {first_sample, count}, bytes);
  if (!read.ok()) return read.error();
  return InterleavedSamples{
      .format = info.sample_format, .num_channels = info.num_channels, .bytes = bytes};
}

Result<void> SoundReader::read_pcm16(const File& file, const SoundInfo& info,
                                     std::uint64_t first_sample, std::span<std::int16_t> out) {
  if (is_mono_pcm16(info))
    return read_range(file, info, {first_sample, out.size()}, std::as_writable_bytes(out));
  auto samples = load(file, info, first_sample, out.size());
  if (!samples.ok()) return samples.error();
  const std::size_t bad = to_mono_pcm16(*samples, out);
  if (bad != kAllFinite) return not_finite(file, info, first_sample + bad);
  return {};
}

Result<void> SoundReader::stream_pcm16(const File& file, const SoundInfo& info,
                                       std::uint64_t first_sample, std::span<std::int16_t> out) {
  if (!is_mono_pcm16(info)) return read_pcm16(file, info, first_sample, out);
  if (scratch_.size() < kStreamBytes) scratch_.resize(kStreamBytes);
  constexpr std::size_t kStreamSamples = kStreamBytes / sizeof(std::int16_t);
  for (std::size_t at = 0; at < out.size(); at += kStreamSamples) {
    const std::size_t count = std::min(kStreamSamples, out.size() - at);
    const auto bytes = std::span(scratch_).first(count * sizeof(std::int16_t));
    auto read = read_range(file, info, {first_sample + at, count}, bytes);
    if (!read.ok()) return read.error();
    stream_copy(bytes, std::as_writable_bytes(out.subspan(at)).data());
  }
  return {};
}

Result<void> SoundReader::read_float(const File& file, const SoundInfo& info,
                                     std::uint64_t first_sample, std::span<float> out) {
  auto samples = load(file, info, first_sample, out.size());
  if (!samples.ok()) return samples.error();
  const std::size_t bad = to_mono_float(*samples, out);
  if (bad != kAllFinite) return not_finite(file, info, first_sample + bad);
  return {};
}

bool has_sound_suffix(std::string_view file_name) noexcept {
  return std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](const Suffix& suffix) {
    return file_name.size() > suffix.text.size() &&
           same_letters(file_name.substr(file_name.size() - suffix.text.size()), suffix.text);
  });
}

}  // namespace stoker::audio
