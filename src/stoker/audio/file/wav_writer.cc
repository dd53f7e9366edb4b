#include "stoker/audio/file/wav_writer.h"

#include <cstring>
#include <string_view>

#include "stoker/base/bytes.h"
#include "stoker/base/invariant.h"

namespace stoker::audio {
namespace {

constexpr std::uint16_t kFormatPcm = 1;
constexpr std::uint16_t kNumChannels = 1;
constexpr std::uint16_t kBytesPerSample = 2;
constexpr std::size_t kLargestDataBytes = 0xFFFFFFFFU - kWavHeaderBytes;

void store_tag(std::byte* to, std::string_view four_letters) {
  std::memcpy(to, four_letters.data(), 4);
}

}  // namespace

std::vector<std::byte> wav_pcm16_bytes(std::span<const std::int16_t> samples,
                                       std::uint32_t rate_hz) {
  check_invariant(samples.size_bytes() <= kLargestDataBytes, "a WAV file holds less than 4 GiB");
  const auto data_bytes = static_cast<std::uint32_t>(samples.size_bytes());
  std::vector<std::byte> file(kWavHeaderBytes + data_bytes);
  std::byte* at = file.data();
  store_tag(at, "RIFF");
  store_le<std::uint32_t>(at + 4, data_bytes + std::uint32_t{kWavHeaderBytes} - 8);
  store_tag(at + 8, "WAVE");
  store_tag(at + 12, "fmt ");
  store_le<std::uint32_t>(at + 16, 16);
  store_le<std::uint16_t>(at + 20, kFormatPcm);
  store_le<std::uint16_t>(at + 22, kNumChannels);
  store_le<std::uint32_t>(at + 24, rate_hz);
  store_le<std::uint32_t>(at + 28, rate_hz * kBytesPerSample);
  store_le<std::uint16_t>(at + 32, kBytesPerSample);
  store_le<std::uint16_t>(at + 34, kBytesPerSample * 8);
  store_tag(at + 36, "data");
  store_le<std::uint32_t>(at + 40, data_bytes);
  if (data_bytes > 0) std::memcpy(at + kWavHeaderBytes, samples.data(), data_bytes);
  return file;
}

Result<void> write_wav_pcm16(const File& folder, const std::string& name,
                             std::span<const std::int16_t> samples, std::uint32_t rate_hz) {
  auto file = open_beneath(folder, name, OpenFor::kCreateNew);
  if (!file) return file.error();
  const auto bytes = wav_pcm16_bytes(samples, rate_hz);
  if (auto written = file->write_at(bytes, 0); !written) return written;
  return file->close();
}

}  // namespace stoker::audio
