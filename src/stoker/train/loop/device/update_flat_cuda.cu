#include "stoker/train/loop/device/update_flat.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "stoker/audio/launch.cuh"
#include "stoker/train/loop/device/device_time.cuh"

namespace stoker::train {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kNumPartials = 1024;  // whatever the GPU: the order of the sum is fixed
constexpr unsigned kMostBlocks = 4096;

// What the last kernels need, all in fp32: decided once, read by every thread.
struct Plan {
  bool is_held;  // nothing but the gradient changes
  float divisor;
  float decay;  // AdamW: of the weights; Adam: of what is added to the gradient
  float beta1, one_minus_beta1;
  float beta2, one_minus_beta2;
  float step_size;
  float root_of_correction2;
  float epsilon;
  float average_weight;
};

struct Scratch {
  double partials[kNumPartials];
  Plan plan;
  DeviceFigures figures;
};

__device__ double sum_of_block(double value) {
  __shared__ double sums[kThreads];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  return sums[0];
}

__global__ void square_kernel(const float4* values, std::size_t num_groups, double* partials) {
  double sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < num_groups;
       i += std::size_t{kNumPartials} * kThreads) {
    const float4 v = values[i];
    sum += static_cast<double>(v.x) * v.x + static_cast<double>(v.y) * v.y +
           static_cast<double>(v.z) * v.z + static_cast<double>(v.w) * v.w;
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

__device__ Plan make_plan(const FlatRule& rule, double num_updates, float divisor, bool is_held) {
  const double correction1 = 1 - pow(rule.beta1, num_updates);
  const double correction2 = 1 - pow(rule.beta2, num_updates);
  const double ema_decay = fmin(rule.ema_decay, (num_updates + 1) / (num_updates + 10));
  return {.is_held = is_held,
          .divisor = divisor,
          .decay = static_cast<float>(rule.is_decoupled ? rule.learning_rate * rule.weight_decay
                                                        : rule.weight_decay),
          .beta1 = static_cast<float>(rule.beta1),
          .one_minus_beta1 = static_cast<float>(1 - rule.beta1),
          .beta2 = static_cast<float>(rule.beta2),
          .one_minus_beta2 = static_cast<float>(1 - rule.beta2),
          .step_size = static_cast<float>(rule.learning_rate / correction1),
          .root_of_correction2 = static_cast<float>(sqrt(correction2)),
          .epsilon = static_cast<float>(rule.epsilon),
          .average_weight = static_cast<float>(1 - ema_decay)};
}

// As torch's scaler: half after a gradient that is not finite, twice after many good ones.
__device__ void move_scale(const LossScale& by, bool is_skipped) {
  if (by.scale == nullptr) return;
  const std::int32_t age = is_skipped ? 0 : *by.age + 1;
  const bool is_grown = age == by.growth_interval;
  const float scale = *by.scale * (is_skipped ? 0.5F : is_grown ? 2.0F : 1.0F);
  if (isfinite(scale)) *by.scale = scale;
  *by.age = is_grown ? 0 : age;
}

__device__ void decide(const FlatUpdateJob& job, double squares, Scratch& scratch) {
  StepLedger& ledger = *job.ledger;
  const double frames = ledger.sums[kNumLosses];
  auto weight = static_cast<float>(frames);
  if (job.scale.scale != nullptr) weight = weight * *job.scale.scale;
  const bool is_empty = weight == 0;
  if (is_empty) weight = 1;
  const float norm = static_cast<float>(sqrt(squares)) / weight;
  double loss = 0;
  for (std::size_t i = 0; i < kNumLosses; ++i) loss += ledger.sums[i];
  const bool is_skipped = !isfinite(norm) || !isfinite(loss);
  const bool is_held = is_skipped || is_empty;
  const auto clip = static_cast<float>(job.rule.clip_norm);
  const float divisor = clip > 0 ? weight * fmaxf(norm / clip, 1.0F) : weight;
  if (!is_held) *job.flat.num_updates += 1;
  scratch.plan = make_plan(job.rule, *job.flat.num_updates, divisor, is_held);
  move_scale(job.scale, is_skipped);
  for (int i = 0; i < 3; ++i) {
    scratch.figures.losses[i] = ledger.sums[i] / (frames == 0 ? 1 : frames);
  }
  scratch.figures.gradient_norm = norm;
  scratch.figures.is_skipped = is_skipped ? 1 : 0;
  for (double& sum : ledger.sums) sum = 0;
}

__global__ void decide_kernel(FlatUpdateJob job) {
  Scratch& scratch = *static_cast<Scratch*>(job.scratch);
  double sum = 0;
  for (unsigned i = threadIdx.x; i < kNumPartials; i += kThreads) sum += scratch.partials[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) decide(job, sum, scratch);
}

struct Value {
  float parameter, gradient, moment1, moment2, average;
};

template <bool kDecoupled>
__device__ void move_value(const Plan& plan, Value& value) {
  float gradient = value.gradient / plan.divisor;
  if constexpr (kDecoupled) {
    value.parameter -= plan.decay * value.parameter;
  } else {
    gradient += plan.decay * value.parameter;
  }
  value.moment1 = plan.beta1 * value.moment1 + plan.one_minus_beta1 * gradient;
  value.moment2 = plan.beta2 * value.moment2 + plan.one_minus_beta2 * gradient * gradient;
  const float deviation = sqrtf(value.moment2) / plan.root_of_correction2 + plan.epsilon;
  value.parameter -= plan.step_size * value.moment1 / deviation;
  const float way = value.parameter - value.average;
  value.average = plan.average_weight < 0.5F ? value.average + plan.average_weight * way
                                             : value.parameter - way * (1 - plan.average_weight);
}

template <class T>
struct alignas(4 * sizeof(T)) Group {
  T values[4];
};

__device__ void narrow(float value, __half& out) { out = __float2half_rn(value); }
__device__ void narrow(float value, __nv_bfloat16& out) { out = __float2bfloat16_rn(value); }
__device__ void narrow(float, char&) {}

// Shadow `char`: there is none.
template <bool kDecoupled, class Shadow>
__device__ void move_group(const FlatBuffers& flat, const Plan& plan, std::size_t i) {
  const auto at = [i](float* values) -> Group<float>& {
    return reinterpret_cast<Group<float>*>(values)[i];
  };
  Group<float> parameters = at(flat.parameters), moments1 = at(flat.moments1);
  Group<float> moments2 = at(flat.moments2), averages = at(flat.average);
  const Group<float> gradients = at(flat.gradients);
  Group<Shadow> shadows;
  for (int k = 0; k < 4; ++k) {
    Value value{parameters.values[k], gradients.values[k], moments1.values[k], moments2.values[k],
                averages.values[k]};
    move_value<kDecoupled>(plan, value);
    parameters.values[k] = value.parameter;
    moments1.values[k] = value.moment1;
    moments2.values[k] = value.moment2;
    averages.values[k] = value.average;
    narrow(value.parameter, shadows.values[k]);
  }
  at(flat.parameters) = parameters;
  at(flat.moments1) = moments1;
  at(flat.moments2) = moments2;
  at(flat.average) = averages;
  if constexpr (sizeof(Shadow) > 1) static_cast<Group<Shadow>*>(flat.shadow)[i] = shadows;
}

template <bool kDecoupled, class Shadow>
__global__ void move_kernel(FlatBuffers flat, const Scratch* scratch) {
  const Plan plan = scratch->plan;
  const std::size_t step = std::size_t{gridDim.x} * kThreads;
  for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < flat.num_values / 4;
       i += step) {
    if (!plan.is_held) move_group<kDecoupled, Shadow>(flat, plan, i);
    reinterpret_cast<float4*>(flat.gradients)[i] = {0, 0, 0, 0};
  }
}

__global__ void finish_kernel(StepLedger* ledger, const Scratch* scratch, DeviceFigures* out) {
  DeviceFigures figures = scratch->figures;
  figures.began_ns = ledger->began_ns;
  figures.ended_ns = close_span(*ledger);
  figures.busy_ns = ledger->busy_ns;
  ledger->began_ns = 0;
  ledger->busy_ns = 0;
  *out = figures;
}

__global__ void begin_kernel(StepLedger* ledger) { open_span(*ledger); }

__global__ void figures_kernel(LossPointers losses, StepLedger* ledger) {
  const double frames = *losses.values[kNumLosses];
  for (std::size_t i = 0; i < kNumLosses; ++i) ledger->sums[i] += *losses.values[i] * frames;
  ledger->sums[kNumLosses] += frames;
  close_span(*ledger);
}

template <class Shadow>
void launch_move(const FlatUpdateJob& job, cuda::StreamView stream) {
  const std::size_t num_groups = job.flat.num_values / 4;
  const auto num_blocks = static_cast<unsigned>(
      std::clamp<std::size_t>((num_groups + kThreads - 1) / kThreads, 1, kMostBlocks));
  const auto* scratch = static_cast<const Scratch*>(job.scratch);
  audio::launch("move_kernel", [&] {
    if (job.rule.is_decoupled) {
      move_kernel<true, Shadow><<<num_blocks, kThreads, 0, stream.handle()>>>(job.flat, scratch);
    } else {
      move_kernel<false, Shadow><<<num_blocks, kThreads, 0, stream.handle()>>>(job.flat, scratch);
    }
  });
}

void move_values(const FlatUpdateJob& job, cuda::StreamView stream) {
  switch (job.flat.shadow_type) {
    case ShadowType::kNone:
      return launch_move<char>(job, stream);
    case ShadowType::kBf16:
      return launch_move<__nv_bfloat16>(job, stream);
    case ShadowType::kF16:
      return launch_move<__half>(job, stream);
  }
}

}  // namespace

std::size_t update_scratch_bytes() { return sizeof(Scratch); }

void begin_span(StepLedger* ledger, cuda::StreamView stream) {
  audio::launch("begin_kernel", [&] { begin_kernel<<<1, 1, 0, stream.handle()>>>(ledger); });
}

void add_figures(const LossPointers& losses, StepLedger* ledger, cuda::StreamView stream) {
  audio::launch("figures_kernel",
                [&] { figures_kernel<<<1, 1, 0, stream.handle()>>>(losses, ledger); });
}

void update_flat(const FlatUpdateJob& job, DeviceFigures* figures, cuda::StreamView stream) {
  begin_span(job.ledger, stream);
  auto* scratch = static_cast<Scratch*>(job.scratch);
  audio::launch("square_kernel", [&] {
    square_kernel<<<kNumPartials, kThreads, 0, stream.handle()>>>(
        reinterpret_cast<const float4*>(job.flat.gradients), job.flat.num_values / 4,
        scratch->partials);
  });
  audio::launch("decide_kernel", [&] { decide_kernel<<<1, kThreads, 0, stream.handle()>>>(job); });
  move_values(job, stream);
  audio::launch("finish_kernel",
                [&] { finish_kernel<<<1, 1, 0, stream.handle()>>>(job.ledger, scratch, figures); });
}

}  // namespace stoker::train
