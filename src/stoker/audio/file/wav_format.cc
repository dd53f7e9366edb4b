#include "stoker/audio/file/wav_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "stoker/audio/errors.h"
#include "stoker/base/bytes.h"
#include "stoker/base/number_text.h"

namespace stoker::audio {
namespace {

constexpr std::uint16_t kPcm = 0x0001;
constexpr std::uint16_t kFloat = 0x0003;
constexpr std::uint16_t kExtensible = 0xFFFE;
constexpr std::size_t kPlainBytes = 16;
constexpr std::size_t kExtensibleBytes = 40;

// Bytes 2 to 15 of every sub-format GUID that means a plain format code.
constexpr std::array<unsigned char, 14> kGuidTail{0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80,
                                                  0x00, 0x00, 0xAA, 0x00, 0x38, 0x9B, 0x71};

struct CodecName {
  std::uint16_t code;
  std::string_view name;
};
constexpr std::array<CodecName, 14> kCodecNames{{{0x0002, "Microsoft ADPCM"},
                                                 {0x0006, "A-law"},
                                                 {0x0007, "mu-law"},
                                                 {0x0010, "OKI ADPCM"},
                                                 {0x0011, "IMA ADPCM"},
                                                 {0x0014, "G.723 ADPCM"},
                                                 {0x0031, "GSM 6.10"},
                                                 {0x0040, "G.721 ADPCM"},
                                                 {0x0050, "MPEG layer 1 or 2"},
                                                 {0x0055, "MP3"},
                                                 {0x0161, "Windows Media Audio"},
                                                 {0x00FF, "AAC"},
                                                 {0x674F, "Ogg Vorbis"},
                                                 {0xF1AC, "FLAC"}}};

std::string codec_text(std::uint16_t code) {
  const auto known = std::find_if(kCodecNames.begin(), kCodecNames.end(),
                                  [&](const CodecName& row) { return row.code == code; });
  if (known == kCodecNames.end())
    return fmt::format("codec 0x{:04X}, which is not supported", code);
  return fmt::format("codec 0x{:04X} ({}), which is not supported", code, known->name);
}

// The chunk's fields as read, and where each of them is.
struct Fields {
  std::uint16_t code, channels;
  std::uint32_t rate_hz, byte_rate;
  std::uint16_t block_bytes, bits;
  std::uint64_t at_bytes;

  Error wrong(const ErrorCode& code_of, std::uint64_t field, std::string promised,
              std::string found) const {
    return {.code = &code_of,
            .place = {.byte = at_bytes + field},
            .promised = std::move(promised),
            .found = std::move(found)};
  }
};

Fields load_fields(std::span<const std::byte> body, std::uint64_t at_bytes) {
  const std::byte* at = body.data();
  return {.code = load_le<std::uint16_t>(at),
          .channels = load_le<std::uint16_t>(at + 2),
          .rate_hz = load_le<std::uint32_t>(at + 4),
          .byte_rate = load_le<std::uint32_t>(at + 8),
          .block_bytes = load_le<std::uint16_t>(at + 12),
          .bits = load_le<std::uint16_t>(at + 14),
          .at_bytes = at_bytes};
}

// Replaces the code of an extensible format by the one its GUID means.
std::optional<Error> resolve_extensible(std::span<const std::byte> body, Fields& fields) {
  const std::size_t extension_bytes =
      body.size() >= kPlainBytes + 2 ? load_le<std::uint16_t>(body.data() + kPlainBytes) : 0;
  if (body.size() < kExtensibleBytes || extension_bytes < 22 ||
      extension_bytes + kPlainBytes + 2 > body.size())
    return fields.wrong(
        kWavFmt, kPlainBytes, "an extension of at least 22 bytes",
        fmt::format("{} in a fmt chunk of {} bytes",
                    std::min(extension_bytes, body.size() - kPlainBytes), body.size()));
  const auto valid_bits = load_le<std::uint16_t>(body.data() + 18);
  if (valid_bits > fields.bits)
    return fields.wrong(kWavBits, 18, fmt::format("at most {} valid bits", fields.bits),
                        fmt::format("valid_bits {}", valid_bits));
  const std::byte* guid = body.data() + 24;
  const bool plain = std::equal(kGuidTail.begin(), kGuidTail.end(), guid + 2,
                                [](unsigned char a, std::byte b) { return std::byte{a} == b; });
  if (!plain) {
    std::string text;
    for (std::size_t i = 0; i < 16; ++i) text += fmt::format("{:02x}", guid[i]);
    return fields.wrong(kWavGuid, 24, "a sub-format GUID of PCM or float", "GUID " + text);
  }
  fields.code = load_le<std::uint16_t>(guid);
  return std::nullopt;
}

std::optional<SampleFormat> sample_format_of(const Fields& fields) {
  if (fields.code == kFloat) {
    if (fields.bits == 32) return SampleFormat::kF32;
    if (fields.bits == 64) return SampleFormat::kF64;
    return std::nullopt;
  }
  switch (fields.bits) {
    case 8:
      return SampleFormat::kU8;
    case 16:
      return SampleFormat::kS16;
    case 24:
      return SampleFormat::kS24;
    case 32:
      return SampleFormat::kS32;
    default:
      return std::nullopt;
  }
}

std::optional<Error> check_fields(const Fields& fields, const SoundPolicy& policy) {
  if (fields.code != kPcm && fields.code != kFloat)
    return fields.wrong(kWavCodec, 0, "PCM or float samples", codec_text(fields.code));
  if (fields.channels == 0 || fields.channels > kMaxWavChannels)
    return fields.wrong(kWavChannels, 2, fmt::format("1 to {} channels", kMaxWavChannels),
                        fmt::format("{} channels", grouped(fields.channels)));
  if (fields.channels > 1 && !policy.allow_mix)
    return fields.wrong(kWavChannels, 2, "1 channel (allow_mix is off)",
                        fmt::format("{} channels", fields.channels));
  if (fields.rate_hz < kMinWavRateHz || fields.rate_hz > kMaxWavRateHz)
    return fields.wrong(
        kWavRate, 4,
        fmt::format("a rate of {} to {} Hz", grouped(kMinWavRateHz), grouped(kMaxWavRateHz)),
        fmt::format("{} Hz", grouped(fields.rate_hz)));
  if (!sample_format_of(fields))
    return fields.wrong(
        kWavBits, 14,
        fields.code == kFloat ? "32 or 64 bits for float" : "8, 16, 24 or 32 bits for PCM",
        fmt::format("{} bits", fields.bits));
  const unsigned block_bytes = unsigned{fields.channels} * fields.bits / 8U;
  if (fields.block_bytes != block_bytes)
    return fields.wrong(kWavBlock, 12,
                        fmt::format("block_align {} ({} channels of {} bits)", block_bytes,
                                    fields.channels, fields.bits),
                        fmt::format("block_align {}", fields.block_bytes));
  return std::nullopt;
}

}  // namespace

Result<WavFormat> parse_wav_format(std::span<const std::byte> body, std::uint64_t at_bytes,
                                   const SoundPolicy& policy) {
  if (body.size() < kPlainBytes)
    return Error{.code = &kWavFmt,
                 .place = {.byte = at_bytes},
                 .promised = "a fmt chunk of at least 16 bytes",
                 .found = fmt::format("{} bytes", body.size())};
  Fields fields = load_fields(body, at_bytes);
  if (fields.code == kExtensible)
    if (auto error = resolve_extensible(body, fields)) return std::move(*error);
  if (auto error = check_fields(fields, policy)) return std::move(*error);
  const bool odd_rate = std::uint64_t{fields.rate_hz} * fields.block_bytes != fields.byte_rate;
  return WavFormat{.sample_format = *sample_format_of(fields),
                   .rate_hz = fields.rate_hz,
                   .num_channels = fields.channels,
                   .block_bytes = fields.block_bytes,
                   .oddities = odd_rate ? std::uint32_t{kOddByteRate} : 0U};
}

std::uint32_t sample_bytes(SampleFormat format) noexcept {
  switch (format) {
    case SampleFormat::kU8:
      return 1;
    case SampleFormat::kS16:
      return 2;
    case SampleFormat::kS24:
      return 3;
    case SampleFormat::kS32:
    case SampleFormat::kF32:
      return 4;
    case SampleFormat::kF64:
      return 8;
    case SampleFormat::kCoded:
      return 0;
  }
  return 0;
}

}  // namespace stoker::audio
