// One interface to log-mel on the CPU and every kernel of the GPU, so that one suite tests them
// all.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/audio/float16.h"
#include "stoker/audio/mel/log_mel.h"
#include "stoker/cuda/device_buffer.h"
#include "tests/doubles/gpu_present.h"

namespace stoker::audio {

// Utterances as a test gives them: int16, or floats when `floats` is not empty.
struct MelInput {
  std::vector<std::vector<std::int16_t>> utterances{};
  std::vector<std::vector<float>> floats{};
  config::MelDtype dtype = config::MelDtype::kF32;
  std::size_t extra_rows = 3;  // of padding after the longest
};

// [utterances, rows, mels] in the bytes of the dtype.
struct MelOutput {
  std::size_t num_rows = 0;
  std::size_t num_mels = 0;
  std::size_t value_bytes = 4;
  std::vector<std::size_t> num_frames{};
  std::vector<std::byte> bytes{};

  std::span<const std::byte> utterance(std::size_t index) const {
    const std::size_t size_bytes = num_rows * num_mels * value_bytes;
    return std::span(bytes).subspan(index * size_bytes, size_bytes);
  }
  template <class T>
  std::vector<T> values(std::size_t index) const {
    std::vector<T> out(num_rows * num_mels);
    std::memcpy(out.data(), utterance(index).data(), out.size() * sizeof(T));
    return out;
  }
  // The rows that hold frames, as f32.
  std::vector<float> frames(std::size_t index) const {
    std::vector<float> out = values<float>(index);
    out.resize(num_frames[index] * num_mels);
    return out;
  }
};

struct MelBackEnd {
  std::string name;
  std::optional<MelVariant> variant;  // nothing: the CPU at its best level
  MelBlocks blocks = MelBlocks::kStay;

  bool is_fast_kernel() const { return variant && *variant != MelVariant::kGeneral; }
};

inline bool is_plain_1024(const config::MelRecipe& r) {
  return r.n_fft == 1024 && r.hop_samples == 256 && !r.remove_dc && r.preemphasis == 0.0;
}

// Samples one after the other, each utterance at a multiple of 8.
template <class Sample>
struct PackedSamples {
  explicit PackedSamples(const std::vector<std::vector<Sample>>& utterances) {
    for (const auto& utterance : utterances) {
      begins.push_back(static_cast<std::int64_t>(samples.size()));
      lengths.push_back(static_cast<std::int32_t>(utterance.size()));
      samples.insert(samples.end(), utterance.begin(), utterance.end());
      samples.resize((samples.size() + 7) / 8 * 8, Sample{77});
    }
  }
  std::vector<Sample> samples;
  std::vector<std::int64_t> begins;
  std::vector<std::int32_t> lengths;
};

template <class T>
cuda::DeviceBuffer on_device(const std::vector<T>& values, const cuda::Stream& stream) {
  cuda::DeviceBuffer buffer(0, std::max<std::size_t>(values.size() * sizeof(T), 16));
  cuda::system_device_api().copy(
      {buffer.data(), values.data(), values.size() * sizeof(T), cuda::CopyKind::kToDevice},
      stream.view().handle());
  return buffer;
}

template <class Sample>
void run_on_device(const DeviceLogMel& mel, const std::vector<std::vector<Sample>>& utterances,
                   MelOutput& out) {
  const PackedSamples<Sample> packed(utterances);
  const cuda::Stream stream(0);
  const auto samples = on_device(packed.samples, stream);
  const auto begins = on_device(packed.begins, stream);
  const auto lengths = on_device(packed.lengths, stream);
  const cuda::DeviceBuffer result(0, std::max<std::size_t>(out.bytes.size(), 16));
  const cuda::DeviceBuffer scratch(0, mel.scratch_bytes(utterances.size(), out.num_rows));
  cuda::DeviceApi& api = cuda::system_device_api();
  api.fill_bytes(result.data(), 0xEE, result.size_bytes(), stream.view().handle());
  mel.run({.samples = samples.data(),
           .begins = begins.template as<std::int64_t>(),
           .lengths = lengths.template as<std::int32_t>(),
           .num_utterances = static_cast<int>(utterances.size()),
           .padded_frames = static_cast<int>(out.num_rows),
           .mel = result.data(),
           .scratch = scratch.data()},
          stream);
  api.copy({out.bytes.data(), result.data(), out.bytes.size(), cuda::CopyKind::kToHost},
           stream.view().handle());
  stream.synchronize();
}

template <class Sample>
void run_on_cpu(const LogMel& mel, const std::vector<std::vector<Sample>>& utterances,
                config::MelDtype dtype, MelOutput& out) {
  std::size_t longest = 0;
  for (const auto& utterance : utterances) longest = std::max(longest, utterance.size());
  auto workspace = mel.make_workspace(longest);
  const std::size_t padding_size = out.num_rows * out.num_mels;
  for (std::size_t u = 0; u < utterances.size(); ++u) {
    std::byte* const to = out.bytes.data() + u * padding_size * out.value_bytes;
    for (std::size_t i = 0; i < padding_size; ++i) {
      const float padding = mel.padding_value();
      const std::uint16_t narrow =
          dtype == config::MelDtype::kF16 ? f16_bits(padding) : bf16_bits(padding);
      std::memcpy(to + i * out.value_bytes,
                  out.value_bytes == 4 ? static_cast<const void*>(&padding) : &narrow,
                  out.value_bytes);
    }
    mel.run(std::span<const Sample>(utterances[u]),
            {.data = to, .dtype = dtype, .row_stride = out.num_mels, .rows = out.num_rows},
            workspace);
  }
}

inline MelOutput run_back_end(const MelBackEnd& back_end, const config::MelRecipe& recipe,
                              const MelInput& input) {
  const LogMel cpu(recipe, detect_simd_level());
  MelOutput out;
  out.num_mels = cpu.num_mels();
  out.value_bytes = config::bytes_per_value(input.dtype);
  const bool is_f32 = !input.floats.empty();
  for (const auto& u : input.utterances) out.num_frames.push_back(cpu.num_frames(u.size()));
  for (const auto& u : input.floats) out.num_frames.push_back(cpu.num_frames(u.size()));
  for (const std::size_t frames : out.num_frames) out.num_rows = std::max(out.num_rows, frames);
  out.num_rows += input.extra_rows;
  out.bytes.resize(out.num_frames.size() * out.num_rows * out.num_mels * out.value_bytes);
  if (!back_end.variant) {
    is_f32 ? run_on_cpu(cpu, input.floats, input.dtype, out)
           : run_on_cpu(cpu, input.utterances, input.dtype, out);
    return out;
  }
  const DeviceLogMel mel(recipe, {.out = input.dtype,
                                  .in = is_f32 ? SampleType::kF32 : SampleType::kPcm16,
                                  .device = 0,
                                  .variant = *back_end.variant,
                                  .blocks = back_end.blocks});
  is_f32 ? run_on_device(mel, input.floats, out) : run_on_device(mel, input.utterances, out);
  return out;
}

}  // namespace stoker::audio
