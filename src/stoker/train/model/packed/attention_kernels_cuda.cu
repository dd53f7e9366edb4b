#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "stoker/audio/launch.cuh"
#include "stoker/train/model/packed/attention_kernels.h"

namespace stoker::train {
namespace {

constexpr int kThreads = 256;
constexpr int kPairs = 4;        // of a thread: 16 bytes
constexpr int kMostPairs = 128;  // of a head
constexpr double kRotaryBase = 10'000;

// Angle of one place for each pair, made on the host in double precision.
struct Rates {
  float value[kMostPairs];
};

Rates rates_of(std::int64_t width) {
  Rates rates{};
  const double num_pairs = static_cast<double>(width) / 2;
  for (std::int64_t i = 0; i < width / 2; ++i)
    rates.value[i] =
        static_cast<float>(std::exp(-std::log(kRotaryBase) * static_cast<double>(i) / num_pairs));
  return rates;
}

__device__ float2 unpack(__nv_bfloat162 pair) { return __bfloat1622float2(pair); }
__device__ float2 unpack(__half2 pair) { return __half22float2(pair); }
__device__ void pack(float2 values, __nv_bfloat162& pair) { pair = __float22bfloat162_rn(values); }
__device__ void pack(float2 values, __half2& pair) { pair = __float22half2_rn(values); }

template <class Pair>
union Vector {
  uint4 bits;
  Pair pairs[kPairs];
};

struct Turn {
  float cosine[kPairs];
  float sine[kPairs];
};

__device__ Turn turn_of(const Rates& rates, int first_pair, std::int32_t place) {
  Turn turn;
  for (int k = 0; k < kPairs; ++k)
    sincosf(static_cast<float>(place) * rates.value[first_pair + k], &turn.sine[k],
            &turn.cosine[k]);
  return turn;
}

template <class Pair>
__device__ uint4 turned(uint4 bits, const Turn& turn, float direction) {
  Vector<Pair> vector{bits};
  for (int k = 0; k < kPairs; ++k) {
    const float2 value = unpack(vector.pairs[k]);
    const float sine = turn.sine[k] * direction;
    pack(make_float2(value.x * turn.cosine[k] - value.y * sine,
                     value.x * sine + value.y * turn.cosine[k]),
         vector.pairs[k]);
  }
  return vector.bits;
}

// A thread owns the same four pairs of every head of one place, so that it makes their angles once.
struct Share {
  std::int64_t place;
  int vector;  // of a head
};

__device__ Share share_of(int head_vectors) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  return {thread / head_vectors, static_cast<int>(thread % head_vectors)};
}

template <class Pair>
__global__ void turn_kernel(uint4* values, Rates rates, int num_heads, int head_vectors,
                            PlacesView places) {
  const Share share = share_of(head_vectors);
  if (share.place >= places.num_places) return;
  const std::int32_t row = places.row_of[share.place];
  if (row >= places.num_rows) return;
  const auto place = static_cast<std::int32_t>(share.place) - places.begins[row];
  const Turn turn = turn_of(rates, share.vector * kPairs, place);
  uint4* at = values + share.place * 3 * num_heads * head_vectors + share.vector;
#pragma unroll 4
  for (int head = 0; head < 2 * num_heads; ++head)
    at[head * head_vectors] = turned<Pair>(at[head * head_vectors], turn, 1.0F);
}

template <class Pair>
__global__ void join_kernel(HeadGradients from, uint4* to, Rates rates, int num_heads,
                            int head_vectors, PlacesView places) {
  const Share share = share_of(head_vectors);
  if (share.place >= places.num_places) return;
  const std::int32_t row = places.row_of[share.place];
  const std::int64_t width = std::int64_t{num_heads} * head_vectors;
  uint4* out = to + share.place * 3 * width + share.vector;
  if (row >= places.num_rows) {
    for (int head = 0; head < 3 * num_heads; ++head) out[head * head_vectors] = uint4{};
    return;
  }
  const auto place = static_cast<std::int32_t>(share.place) - places.begins[row];
  const Turn turn = turn_of(rates, share.vector * kPairs, place);
  const std::int64_t first = share.place * width + share.vector;
  const auto* query = static_cast<const uint4*>(from.query) + first;
  const auto* key = static_cast<const uint4*>(from.key) + first;
  const auto* value = static_cast<const uint4*>(from.value) + first;
#pragma unroll 2
  for (int head = 0; head < num_heads; ++head) {
    const int at = head * head_vectors;
    out[at] = turned<Pair>(query[at], turn, -1.0F);
    out[at + width] = turned<Pair>(key[at], turn, -1.0F);
    out[at + 2 * width] = value[at];
  }
}

__global__ void zero_kernel(uint4* values, std::int64_t row_vectors, PlacesView places) {
  const std::int64_t first = std::int64_t{places.begins[places.num_rows]} * row_vectors;
  const std::int64_t end = places.num_places * row_vectors;
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t i = first + std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < end;
       i += step)
    values[i] = uint4{};
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

void turn_heads(void* query_key_value, ShortType type, const HeadSize& size,
                const PlacesView& places, cuda::StreamView on) {
  const int head_vectors = static_cast<int>(size.width / (2 * kPairs));
  const unsigned grid = blocks_for(places.num_places * head_vectors);
  if (grid == 0) return;
  const auto run = type == ShortType::kBf16 ? &turn_kernel<__nv_bfloat162> : &turn_kernel<__half2>;
  audio::launch("turn_kernel", [&] {
    run<<<grid, kThreads, 0, on.handle()>>>(static_cast<uint4*>(query_key_value),
                                            rates_of(size.width), static_cast<int>(size.num_heads),
                                            head_vectors, places);
  });
}

void join_turned_back(const HeadGradients& gradients, void* query_key_value, ShortType type,
                      const HeadSize& size, const PlacesView& places, cuda::StreamView on) {
  const int head_vectors = static_cast<int>(size.width / (2 * kPairs));
  const unsigned grid = blocks_for(places.num_places * head_vectors);
  if (grid == 0) return;
  const auto run = type == ShortType::kBf16 ? &join_kernel<__nv_bfloat162> : &join_kernel<__half2>;
  audio::launch("join_kernel", [&] {
    run<<<grid, kThreads, 0, on.handle()>>>(gradients, static_cast<uint4*>(query_key_value),
                                            rates_of(size.width), static_cast<int>(size.num_heads),
                                            head_vectors, places);
  });
}

void zero_behind_rows(void* values, std::int64_t row_bytes, const PlacesView& places,
                      cuda::StreamView on) {
  constexpr unsigned kBlocks = 64;
  if (places.num_places == 0) return;
  audio::launch("zero_kernel", [&] {
    zero_kernel<<<kBlocks, kThreads, 0, on.handle()>>>(
        static_cast<uint4*>(values), row_bytes / static_cast<std::int64_t>(sizeof(uint4)), places);
  });
}

}  // namespace stoker::train
