// Fuzz target: bytes as a WAV file. Whatever is accepted must be inside the bytes and decode.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stoker/audio/file/wav_reader.h"
#include "stoker/audio/file/wav_samples.h"
#include "stoker/base/invariant.h"

using namespace stoker;
using namespace stoker::audio;

namespace {

void check_error(const Error& error, std::size_t size_bytes) {
  check_invariant(error.code != nullptr, "an error without a code");
  check_invariant(error.place.byte.value_or(0) <= size_bytes, "a place outside the file");
  check_invariant(!error.promised.empty() && !error.found.empty(), "promised and found");
}

void check_header(const WavHeader& header, std::span<const std::byte> file) {
  check_invariant(header.num_samples > 0, "an accepted file without samples");
  check_invariant(header.data_at_bytes <= file.size() &&
                      header.data_bytes <= file.size() - header.data_at_bytes,
                  "samples outside the file");
  const std::uint64_t frame_bytes =
      std::uint64_t{sample_bytes(header.format.sample_format)} * header.format.num_channels;
  check_invariant(header.num_samples * frame_bytes == header.data_bytes, "whole sample frames");
}

void decode(const WavHeader& header, std::span<const std::byte> file) {
  const InterleavedSamples in{.format = header.format.sample_format,
                              .num_channels = header.format.num_channels,
                              .bytes = file.subspan(header.data_at_bytes, header.data_bytes)};
  std::vector<float> floats(header.num_samples);
  std::vector<std::int16_t> shorts(header.num_samples);
  const std::size_t bad_float = to_mono_float(in, floats);
  to_mono_pcm16(in, shorts);
  if (bad_float != kAllFinite) return;
  check_invariant(std::all_of(floats.begin(), floats.end(), [](float x) { return x - x == 0; }),
                  "a sample that is not finite got through");
}

}  // namespace

// Files of odd size are read with the lenient policy, so that both are tried.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  const std::span file = std::as_bytes(std::span(data, size_bytes));
  const bool lenient = size_bytes % 2 != 0;
  const SoundPolicy policy{.allow_streamed = lenient, .allow_odd_data = lenient};
  const auto header = parse_wav(file, policy);
  if (header.ok()) {
    check_header(*header, file);
    decode(*header, file);
  } else {
    check_error(header.error(), size_bytes);
  }
  return 0;
}
