// Builds WAV files chunk by chunk, right or wrong on purpose, for the tests of their reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::audio {

struct FmtFields {
  std::uint16_t code = 1;
  std::uint16_t channels = 1;
  std::uint32_t rate_hz = 22050;
  std::uint16_t bits = 16;
  int block_bytes = -1;  // -1 = as it should be
  std::int64_t byte_rate = -1;
};

inline std::string le(std::uint64_t value, int num_bytes) {
  std::string out;
  for (int i = 0; i < num_bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return out;
}

// A chunk whose size field may be wrong; `pad` adds the byte that follows an odd body.
inline std::string chunk(std::string_view id, std::string_view body, std::int64_t size_bytes = -1,
                         bool pad = true) {
  const auto claimed = size_bytes < 0 ? body.size() : static_cast<std::size_t>(size_bytes);
  std::string out = std::string(id) + le(claimed, 4) + std::string(body);
  if (pad && body.size() % 2 != 0) out += '\0';
  return out;
}

inline std::string fmt_body(const FmtFields& f) {
  const auto block = f.block_bytes < 0 ? static_cast<unsigned>(f.channels * f.bits / 8)
                                       : static_cast<unsigned>(f.block_bytes);
  const auto byte_rate =
      f.byte_rate < 0 ? std::uint64_t{f.rate_hz} * block : static_cast<std::uint64_t>(f.byte_rate);
  return le(f.code, 2) + le(f.channels, 2) + le(f.rate_hz, 4) + le(byte_rate, 4) + le(block, 2) +
         le(f.bits, 2);
}

inline constexpr std::string_view kGuidTail{
    "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xAA\x00\x38\x9B\x71", 14};

struct Extension {
  std::uint16_t size_bytes = 22;
  std::uint16_t valid_bits = 16;
  std::uint16_t code = 1;
  std::string guid_tail = std::string(kGuidTail);
};

inline std::string extensible_body(FmtFields f, const Extension& e = {}) {
  f.code = 0xFFFE;
  std::string out = fmt_body(f) + le(e.size_bytes, 2) + le(e.valid_bits, 2) + le(0, 4) +
                    le(e.code, 2) + e.guid_tail;
  if (e.size_bytes > 22) out += std::string(e.size_bytes - 22U, '\0');
  return out;
}

inline std::string riff(std::string_view chunks, std::int64_t size_bytes = -1) {
  const auto claimed = size_bytes < 0 ? chunks.size() + 4 : static_cast<std::size_t>(size_bytes);
  return "RIFF" + le(claimed, 4) + "WAVE" + std::string(chunks);
}

// 100 samples of 16 bits unless told otherwise.
inline std::string samples16(std::size_t count = 100) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += le(i * 331U, 2);
  return out;
}

inline std::string good_wav(const FmtFields& fields = {}, std::string_view data = samples16()) {
  return riff(chunk("fmt ", fmt_body(fields)) + chunk("data", data));
}

}  // namespace stoker::audio
