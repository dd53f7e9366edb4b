#include <cuda_runtime.h>

#include <algorithm>

#include "stoker/audio/mel/cuda/kernel_plan.h"
#include "stoker/audio/mel/log_mel.h"
#include "stoker/audio/mel/mel_finish.h"
#include "stoker/base/checked.h"
#include "stoker/base/invariant.h"
#include "stoker/cuda/check.h"

namespace stoker::audio {
namespace {

std::unique_ptr<const DeviceMelPlan> make_plan(const config::MelRecipe& recipe,
                                               const DeviceLogMel::Options& options) {
  config::check_mel_recipe(recipe);
  return std::make_unique<const DeviceMelPlan>(recipe, options);
}

// Blocks go on from tile to tile, so that any number of them does all the work.
unsigned num_blocks(const DeviceMelPlan& plan, const DeviceMelTask& task) {
  const device::MelKernel& kernel = plan.kernel;
  const int held = plan.num_multiprocessors * kernel.blocks_per_multiprocessor;
  if (plan.options.blocks == MelBlocks::kStay || plan.variant == MelVariant::kHopper) {
    return static_cast<unsigned>(held);
  }
  constexpr std::int64_t kMostBlocks = 1 << 20;
  const int tiles_per_row = (task.padded_frames + kernel.tile_frames - 1) / kernel.tile_frames;
  return static_cast<unsigned>(
      std::min(kMostBlocks, std::int64_t{task.num_utterances} * tiles_per_row));
}

void launch_mel(const DeviceMelPlan& plan, DeviceMelTask& task, cudaStream_t stream) {
  const device::MelKernel& kernel = plan.kernel;
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim.x = num_blocks(plan, task);
  launch.blockDim.x = static_cast<unsigned>(kernel.num_threads);
  launch.dynamicSmemBytes = kernel.shared_bytes;
  launch.stream = stream;
  launch.attrs = &overlap;
  launch.numAttrs = kernel.waits_by_itself ? 1 : 0;
  void* arguments[] = {&task};
  cuda::call("the launch of log-mel",
             [&] { return cudaLaunchKernelExC(&launch, kernel.function, arguments); });
}

std::size_t ranges_bytes(std::size_t num_utterances) {
  return round_up<std::size_t>(2 * sizeof(int) * num_utterances, 256);
}

// Values before the last step go to the batch itself, or to scratch when its dtype is narrow.
void run_in_two_passes(const DeviceMelPlan& plan, DeviceMelTask& task, const DeviceMelBatch& batch,
                       cudaStream_t stream) {
  device::MelFinishTask finish = plan.finish;
  auto* const scratch = static_cast<std::byte*>(batch.scratch);
  if (plan.options.out != config::MelDtype::kF32) {
    task.mel = scratch + ranges_bytes(static_cast<std::size_t>(batch.num_utterances));
  }
  if (plan.recipe.range != config::MelRange::kNone) {
    task.ranges = reinterpret_cast<int*>(scratch);
    device::launch_clear_ranges(task.ranges, batch.num_utterances, stream);
  }
  launch_mel(plan, task, stream);
  finish.values = static_cast<const float*>(task.mel);
  finish.ranges = task.ranges;
  finish.mel = batch.mel;
  device::launch_finish(finish, task, stream);
}

}  // namespace

DeviceLogMel::DeviceLogMel(const config::MelRecipe& recipe, const Options& options)
    : plan_(make_plan(recipe, options)) {}
DeviceLogMel::~DeviceLogMel() = default;
DeviceLogMel::DeviceLogMel(DeviceLogMel&&) noexcept = default;
DeviceLogMel& DeviceLogMel::operator=(DeviceLogMel&&) noexcept = default;

MelVariant DeviceLogMel::variant() const noexcept { return plan_->variant; }
const config::MelRecipe& DeviceLogMel::recipe() const noexcept { return plan_->recipe; }
std::size_t DeviceLogMel::num_mels() const noexcept { return plan_->bands.num_mels; }

std::size_t DeviceLogMel::num_frames(std::size_t num_samples) const noexcept {
  return plan_->grid.num_frames(num_samples);
}

float DeviceLogMel::padding_value() const noexcept { return mel_padding_value(plan_->recipe); }

std::size_t DeviceLogMel::scratch_bytes(std::size_t max_utterances,
                                        std::size_t padded_frames) const noexcept {
  if (!plan_->finishes_whole) return 0;
  const std::size_t values_bytes =
      plan_->options.out == config::MelDtype::kF32
          ? 0
          : max_utterances * padded_frames * num_mels() * sizeof(float);
  return ranges_bytes(max_utterances) + values_bytes;
}

void DeviceLogMel::run(const DeviceMelBatch& batch, cuda::StreamView stream) const {
  if (batch.num_utterances == 0 || batch.padded_frames == 0) return;
  DeviceMelTask task = plan_->task;
  task.samples = batch.samples;
  task.begins = batch.begins;
  task.lengths = batch.lengths;
  task.num_utterances = batch.num_utterances;
  task.padded_frames = batch.padded_frames;
  task.mel = batch.mel;
  if (!plan_->finishes_whole) return launch_mel(*plan_, task, stream.handle());
  check_invariant(batch.scratch != nullptr, "a recipe that looks at whole utterances has scratch");
  run_in_two_passes(*plan_, task, batch, stream.handle());
}

}  // namespace stoker::audio
