// The container of FLAC: RFC 9639, sections 8 (metadata blocks) and 9 (frame structure).
#include "stoker/audio/file/coded_sound.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stoker/audio/file/coded_errors.h"
#include "stoker/base/number_text.h"

namespace stoker::audio {
namespace {

using Bytes = std::span<const std::byte>;

std::uint64_t big_endian(Bytes bytes) {
  std::uint64_t value = 0;
  for (const std::byte byte : bytes) value = value << 8U | std::to_integer<std::uint64_t>(byte);
  return value;
}

Error header_error(const ByteWindow& window, std::uint64_t at, std::string promised,
                   std::string found) {
  return {&kFlacHeader,
          {window.file().path(), {}, {}, at},
          std::move(promised),
          std::move(found),
          "",
          ""};
}

// CRC with the given polynomial, most significant bit first, start value 0.
template <unsigned kBits>
std::uint32_t crc_msb(Bytes bytes, std::uint32_t polynomial) {
  std::uint32_t crc = 0;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte) << (kBits - 8U);
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & (1U << (kBits - 1U))) != 0 ? crc << 1U ^ polynomial : crc << 1U;
    crc &= (1U << kBits) - 1U;
  }
  return crc;
}

FlacStream parse_stream_info(Bytes body) {
  FlacStream info;
  const std::uint64_t packed = big_endian(body.subspan(10, 8));
  info.rate_hz = static_cast<std::uint32_t>(packed >> 44U);
  info.num_channels = static_cast<std::uint32_t>(packed >> 41U & 7U) + 1;
  info.bits_per_sample = static_cast<std::uint32_t>(packed >> 36U & 31U) + 1;
  info.num_samples = packed & 0xF'FFFF'FFFFULL;
  std::copy_n(body.begin() + 18, 16, info.md5.begin());
  return info;
}

struct FrameHeader {
  std::uint64_t first_sample = 0;
  std::uint64_t num_samples = 0;
};

// The "UTF-8" coded number of a frame header; moves `at` past it.
std::optional<std::uint64_t> coded_number(Bytes bytes, std::size_t& at) {
  if (at >= bytes.size()) return std::nullopt;
  const auto lead = std::to_integer<std::uint32_t>(bytes[at++]);
  if (lead < 0x80) return lead;
  unsigned more = 0;
  while (more < 7 && (lead & (0x80U >> (more + 1))) != 0) ++more;
  if (more == 0 || more > 6) return std::nullopt;
  std::uint64_t value = more == 6 ? 0 : lead & (0x3FU >> more);
  for (unsigned i = 0; i < more; ++i) {
    if (at >= bytes.size() || (std::to_integer<std::uint32_t>(bytes[at]) & 0xC0U) != 0x80)
      return std::nullopt;
    value = value << 6U | (std::to_integer<std::uint64_t>(bytes[at++]) & 0x3FU);
  }
  return value;
}

std::optional<std::uint64_t> block_size(std::uint32_t code, Bytes bytes, std::size_t& at) {
  if (code == 0) return std::nullopt;
  if (code == 1) return 192;
  if (code <= 5) return 576U << (code - 2U);
  if (code >= 8) return 256U << (code - 8U);
  const std::size_t width = code == 6 ? 1 : 2;
  if (at + width > bytes.size()) return std::nullopt;
  const std::uint64_t size = big_endian(bytes.subspan(at, width)) + 1;
  at += width;
  return size;
}

// A frame header at the start of `bytes`, or nothing when its sync code, fields or CRC-8 do not
// hold.
std::optional<FrameHeader> parse_frame(Bytes bytes, std::uint64_t fixed_block_samples) {
  if (bytes.size() < 6) return std::nullopt;
  const auto word = static_cast<std::uint32_t>(big_endian(bytes.first(4)));
  if (word >> 18U != 0x3FFE || (word & 0x20000U) != 0) return std::nullopt;
  const bool variable = (word & 0x10000U) != 0;
  std::size_t at = 4;
  const std::optional<std::uint64_t> number = coded_number(bytes, at);
  if (!number) return std::nullopt;
  const std::optional<std::uint64_t> size = block_size(word >> 12U & 15U, bytes, at);
  if (!size) return std::nullopt;
  const std::uint32_t rate_code = word >> 8U & 15U;
  at += rate_code == 12 ? 1U : rate_code == 13 || rate_code == 14 ? 2U : 0U;
  if (at >= bytes.size()) return std::nullopt;
  if (crc_msb<8>(bytes.first(at), 0x07) != std::to_integer<std::uint32_t>(bytes[at]))
    return std::nullopt;
  return FrameHeader{variable ? *number : *number * fixed_block_samples, *size};
}

// The last frame whose CRC-16 holds up to the end of the file.
Result<std::optional<FrameHeader>> last_frame(ByteWindow& window, const FlacStream& info,
                                              std::uint64_t end) {
  constexpr std::uint64_t kTailBytes = 256 * 1024;
  const std::uint64_t start =
      std::max(info.frames_at_bytes, end > kTailBytes ? end - kTailBytes : 0);
  Result<Bytes> first = window.view(info.frames_at_bytes, 16);
  if (!first) return std::move(first).error();
  const std::optional<FrameHeader> opening = parse_frame(*first, 0);
  const std::uint64_t fixed_block_samples = opening ? opening->num_samples : 0;
  Result<Bytes> tail = window.view(start, static_cast<std::size_t>(end - start));
  if (!tail) return std::move(tail).error();
  if (tail->size() < 8) return std::optional<FrameHeader>();
  for (std::size_t at = tail->size() - 8;; --at) {
    const Bytes rest = tail->subspan(at);
    if (rest[0] == std::byte{0xFF} && (rest[1] == std::byte{0xF8} || rest[1] == std::byte{0xF9})) {
      const std::optional<FrameHeader> frame = parse_frame(rest, fixed_block_samples);
      if (frame && crc_msb<16>(rest.first(rest.size() - 2), 0x8005) == big_endian(rest.last(2)))
        return frame;
    }
    if (at == 0) return std::optional<FrameHeader>();
  }
}

// Where the stream ends when an ID3v1 tag of 128 bytes follows it.
Result<std::uint64_t> stream_end(ByteWindow& window) {
  const std::uint64_t size = window.size_bytes();
  if (size < 128) return size;
  Result<Bytes> tag = window.view(size - 128, 3);
  if (!tag) return std::move(tag).error();
  return tag->size() == 3 && big_endian(*tag) == 0x544147 ? size - 128 : size;
}

}  // namespace

Result<FlacStream> read_flac_head(ByteWindow& window) {
  std::uint64_t at = 4;  // after "fLaC"
  std::optional<FlacStream> info;
  for (bool last = false; !last;) {
    Result<Bytes> head = window.view(at, 4);
    if (!head) return std::move(head).error();
    if (head->size() < 4)
      return header_error(window, at, "a metadata block", "the end of the file");
    const std::uint64_t word = big_endian(*head);
    last = (word >> 31U) != 0;
    const std::uint64_t type = word >> 24U & 0x7FU;
    const std::uint64_t size = word & 0xFF'FFFFU;
    if (at + 4 + size > window.size_bytes())
      return header_error(window, at, fmt::format("a metadata block of {} bytes", grouped(size)),
                          fmt::format("{} bytes", grouped(window.size_bytes() - at - 4)));
    if (!info) {
      if (type != 0 || size < 34)
        return header_error(window, at, "STREAMINFO of 34 bytes as first block",
                            fmt::format("type {} of {} bytes", type, size));
      Result<Bytes> body = window.view(at + 4, 34);
      if (!body) return std::move(body).error();
      info = parse_stream_info(*body);
    }
    at += 4 + size;
  }
  info->frames_at_bytes = at;
  return *info;
}

Result<FlacStream> check_flac_stream(ByteWindow& window) {
  Result<FlacStream> info = read_flac_head(window);
  if (!info) return info;
  if (info->rate_hz == 0 || info->bits_per_sample < 4)
    return header_error(window, 0, "rate and bits in STREAMINFO",
                        fmt::format("{} Hz, {} bits", info->rate_hz, info->bits_per_sample));
  Result<std::uint64_t> end = stream_end(window);
  if (!end) return std::move(end).error();
  Result<std::optional<FrameHeader>> last = last_frame(window, *info, *end);
  if (!last) return std::move(last).error();
  const std::string promised =
      info->num_samples == 0 ? std::string("a complete frame at the end")
                             : fmt::format("{} samples by STREAMINFO", grouped(info->num_samples));
  if (!*last)
    return Error{&kFlacTrunc, {window.file().path(), {}, {}, *end},
                 promised,    "no complete frame at the end",
                 "",          ""};
  const std::uint64_t held = (*last)->first_sample + (*last)->num_samples;
  if (info->num_samples != 0 && held != info->num_samples)
    return Error{&kFlacTrunc, {window.file().path(), {}, {}, *end},
                 promised,    fmt::format("{} by the last frame", grouped(held)),
                 "",          ""};
  info->num_samples = held;
  return info;
}

}  // namespace stoker::audio
