#include "stoker/audio/augment_value.h"
#include "stoker/audio/device_launch.cuh"

namespace stoker::audio {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = 8;  // 16 bytes of PCM
constexpr int kPerBlock = kThreads * kPerThread;
constexpr int kWarp = 32;

struct alignas(16) EightSamples {
  std::int16_t values[kPerThread];
};

// The eight samples of a thread and what is left of its utterance from there.
struct Piece {
  std::int64_t begin;  // in the batch
  std::int32_t first;  // in the utterance
  std::int32_t count;  // up to 8; less at the utterance's end
};

__device__ Piece piece_of_thread(const AugmentBatch& batch) {
  const std::int32_t length = min(batch.lengths[blockIdx.y], batch.max_samples);
  const auto first = static_cast<std::int32_t>((blockIdx.x * kThreads + threadIdx.x) * kPerThread);
  return {batch.begins[blockIdx.y] + first, first, max(0, min(kPerThread, length - first))};
}

__device__ EightSamples load_samples(const AugmentBatch& batch, const Piece& piece) {
  if (piece.count == kPerThread)
    return *reinterpret_cast<const EightSamples*>(batch.samples + piece.begin);
  EightSamples samples{};
  for (int i = 0; i < piece.count; ++i) samples.values[i] = batch.samples[piece.begin + i];
  return samples;
}

__device__ EightSamples load_noise(const NoisePiece& noise, const Piece& piece) {
  EightSamples samples{};
  auto at = static_cast<std::int32_t>((static_cast<std::int64_t>(noise.first) + piece.first) %
                                      noise.length);
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    if (i < piece.count) samples.values[i] = noise.samples[at];
    at = at + 1 == noise.length ? 0 : at + 1;
  }
  return samples;
}

__global__ void draw_kernel(AugmentBatch batch, AugmentRule rule, AugmentKeys keys,
                            AugmentChange* changes) {
  const int u = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (u < batch.num_utterances)
    changes[u] = drawn_change(rule, keys, batch.noises, batch.utterances[u]);
}

__device__ std::uint64_t sum_of_warp(std::uint64_t value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0U, value, step);
  return value;
}

// Whole numbers add up to the same in any order, so atomics do no harm here.
__global__ void power_kernel(AugmentBatch batch, AugmentChange* changes) {
  const AugmentChange change = changes[blockIdx.y];
  if (change.noise < 0) return;
  const Piece piece = piece_of_thread(batch);
  const EightSamples speech = load_samples(batch, piece);
  const EightSamples noise = load_noise(piece_of(batch.noises, change), piece);
  std::uint64_t speech_power = 0, noise_power = 0;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    speech_power += square_of(speech.values[i]);
    noise_power += square_of(noise.values[i]);
  }
  speech_power = sum_of_warp(speech_power);
  noise_power = sum_of_warp(noise_power);
  if (threadIdx.x % kWarp != 0 || piece.count == 0) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(&changes[blockIdx.y].speech_power), speech_power);
  atomicAdd(reinterpret_cast<unsigned long long*>(&changes[blockIdx.y].noise_power), noise_power);
}

template <class Out>
__device__ Out out_value(float value) {
  if constexpr (sizeof(Out) == sizeof(float)) {
    return value;
  } else {
    return pcm16_of(value);
  }
}

template <class Out>
struct alignas(16) EightOut {
  Out values[kPerThread];
};

template <class Out>
__global__ void mix_kernel(AugmentBatch batch, const AugmentChange* changes) {
  const Piece piece = piece_of_thread(batch);
  if (piece.count == 0) return;
  const AugmentChange change = changes[blockIdx.y];
  const AugmentFactors factors = factors_of(change);
  const EightSamples speech = load_samples(batch, piece);
  EightSamples noise{};
  if (factors.share != 0) noise = load_noise(piece_of(batch.noises, change), piece);
  EightOut<Out> mixed;
#pragma unroll
  for (int i = 0; i < kPerThread; ++i)
    mixed.values[i] = out_value<Out>(mixed_value(factors, speech.values[i], noise.values[i]));
  Out* out = static_cast<Out*>(batch.out) + piece.begin;
  if (piece.count == kPerThread) {
    *reinterpret_cast<EightOut<Out>*>(out) = mixed;
  } else {
    for (int i = 0; i < piece.count; ++i) out[i] = mixed.values[i];
  }
}

}  // namespace

std::size_t augment_scratch_bytes(std::size_t num_utterances) noexcept {
  return num_utterances * sizeof(AugmentChange);
}

void augment_batch(const AugmentBatch& batch, const AugmentRule& rule, const AugmentPlace& place) {
  if (batch.num_utterances == 0 || batch.max_samples == 0) return;
  const auto count = static_cast<unsigned>(batch.num_utterances);
  const dim3 pieces((static_cast<unsigned>(batch.max_samples) + kPerBlock - 1) / kPerBlock, count);
  const AugmentKeys keys = augment_keys(rule.seed);
  auto* changes = static_cast<AugmentChange*>(place.scratch);
  const cudaStream_t in = place.stream.handle();
  launch("draw_kernel", [&] {
    draw_kernel<<<(count + kThreads - 1) / kThreads, kThreads, 0, in>>>(batch, rule, keys, changes);
  });
  launch("power_kernel", [&] { power_kernel<<<pieces, kThreads, 0, in>>>(batch, changes); });
  launch("mix_kernel", [&] {
    if (batch.out_type == SampleType::kF32) {
      mix_kernel<float><<<pieces, kThreads, 0, in>>>(batch, changes);
    } else {
      mix_kernel<std::int16_t><<<pieces, kThreads, 0, in>>>(batch, changes);
    }
  });
}

}  // namespace stoker::audio
