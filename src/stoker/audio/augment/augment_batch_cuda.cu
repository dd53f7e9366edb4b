#include "stoker/audio/augment/augment_value.h"
#include "stoker/audio/launch.cuh"

namespace stoker::audio {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = 8;  // 16 bytes of PCM
constexpr int kPieces = 4;     // of a thread, so that factors and sums are found once for all
constexpr int kPerBlock = kPieces * kThreads * kPerThread;
constexpr int kWarp = 32;

struct alignas(16) EightSamples {
  std::int16_t values[kPerThread];
};

// The eight samples of a thread. What is left of the utterance is not clamped to eight: ptxas 13.0
// for sm_90 takes max(0, min(8, left)) == 8 to hold for small values.
struct Piece {
  std::int64_t begin;  // in the batch
  std::int32_t first;  // in the utterance
  std::int32_t left;   // of the utterance from there; not positive beyond its end

  __device__ bool is_whole() const { return left >= kPerThread; }
};

__device__ Piece piece_of_thread(const AugmentBatch& batch, int number) {
  const std::int32_t length = min(batch.lengths[blockIdx.y], batch.max_samples);
  const std::int32_t before = (static_cast<std::int32_t>(blockIdx.x) * kPieces + number) * kThreads;
  const std::int32_t first = (before + static_cast<std::int32_t>(threadIdx.x)) * kPerThread;
  return {batch.begins[blockIdx.y] + first, first, length - first};
}

__device__ EightSamples load_samples(const AugmentBatch& batch, const Piece& piece) {
  if (piece.is_whole()) return *reinterpret_cast<const EightSamples*>(batch.samples + piece.begin);
  EightSamples samples{};
#pragma unroll
  for (int i = 0; i < kPerThread; ++i)
    if (i < piece.left) samples.values[i] = batch.samples[piece.begin + i];
  return samples;
}

__device__ EightSamples load_noise(const NoisePiece& noise, const Piece& piece) {
  EightSamples samples{};
  const auto reached = static_cast<std::uint32_t>(noise.first) +
                       static_cast<std::uint32_t>(piece.first);  // two of 31 bits
  auto at = static_cast<std::int32_t>(reached % static_cast<std::uint32_t>(noise.length));
  if (piece.is_whole() && noise.length - at >= kPerThread) {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) samples.values[i] = noise.samples[at + i];
    return samples;
  }
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    if (i < piece.left) samples.values[i] = noise.samples[at];
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
  const NoisePiece noise = piece_of(batch.noises, change);
  std::uint64_t speech_power = 0, noise_power = 0;
  for (int p = 0; p < kPieces; ++p) {
    const Piece piece = piece_of_thread(batch, p);
    const EightSamples speech_values = load_samples(batch, piece);
    const EightSamples noise_values = load_noise(noise, piece);
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      speech_power += square_of(speech_values.values[i]);
      noise_power += square_of(noise_values.values[i]);
    }
  }
  speech_power = sum_of_warp(speech_power);
  noise_power = sum_of_warp(noise_power);
  if (threadIdx.x % kWarp != 0) return;
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
__device__ void write_samples(const AugmentBatch& batch, const Piece& piece,
                              const EightOut<Out>& mixed) {
  const std::int64_t begin =
      batch.out_begins == nullptr ? piece.begin : batch.out_begins[blockIdx.y] + piece.first;
  Out* out = static_cast<Out*>(batch.out) + begin;
  if (piece.is_whole()) {
    *reinterpret_cast<EightOut<Out>*>(out) = mixed;
    return;
  }
#pragma unroll
  for (int i = 0; i < kPerThread; ++i)
    if (i < piece.left) out[i] = mixed.values[i];
}

template <class Out>
__global__ void mix_kernel(AugmentBatch batch, const AugmentChange* changes) {
  if (piece_of_thread(batch, 0).left <= 0) return;
  const AugmentChange change = changes[blockIdx.y];
  const AugmentFactors factors = factors_of(change);
  for (int p = 0; p < kPieces; ++p) {
    const Piece piece = piece_of_thread(batch, p);
    const EightSamples speech = load_samples(batch, piece);
    EightSamples noise{};
    if (factors.share != 0) noise = load_noise(piece_of(batch.noises, change), piece);
    EightOut<Out> mixed;
#pragma unroll
    for (int i = 0; i < kPerThread; ++i)
      mixed.values[i] = out_value<Out>(mixed_value(factors, speech.values[i], noise.values[i]));
    write_samples(batch, piece, mixed);
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
