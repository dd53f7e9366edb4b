#include "stoker/audio/mel/log_mel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/audio/mel/mel_finish.h"
#include "stoker/audio/mel/mel_plan.h"
#include "stoker/base/invariant.h"

namespace stoker::audio {
namespace {

std::unique_ptr<const MelPlan> make_plan(const config::MelRecipe& recipe, SimdLevel level,
                                         MelArithmetic arithmetic) {
  config::check_mel_recipe(recipe);
  return std::make_unique<const MelPlan>(recipe, level, arithmetic);
}

template <class Sample, class Kernel>
std::size_t run_plan(const MelPlan& plan, std::span<const Sample> samples, const MelView& out,
                     std::pair<Kernel, MelScratch*> kernel_and_scratch) {
  const auto [kernel, scratch] = kernel_and_scratch;
  const std::size_t num_frames = plan.grid.num_frames(samples.size());
  check_invariant(out.rows >= num_frames, "the mel view has a row for every frame");
  check_invariant(out.row_stride >= plan.bands.num_mels, "a mel row holds every band");
  if (num_frames == 0) return 0;
  if (!plan.finishes_whole) {
    kernel(plan, samples, out, *scratch);
    return num_frames;
  }
  check_invariant(num_frames <= scratch->whole_rows, "the utterance fits the mel workspace");
  const std::span whole(scratch->whole.get(), num_frames * plan.bands.num_mels);
  kernel(plan, samples, mel_view(whole, plan.bands.num_mels), *scratch);
  finish_mel(plan.recipe, whole, out);
  return num_frames;
}

}  // namespace

LogMel::Workspace::Workspace(std::unique_ptr<MelScratch> scratch) : scratch_(std::move(scratch)) {}
LogMel::Workspace::Workspace(Workspace&&) noexcept = default;
LogMel::Workspace& LogMel::Workspace::operator=(Workspace&&) noexcept = default;
LogMel::Workspace::~Workspace() = default;

void LogMel::Workspace::measure_into(MelStageTimes* times) { scratch_->times = times; }

LogMel::LogMel(const config::MelRecipe& recipe, SimdLevel level, MelArithmetic arithmetic)
    : plan_(make_plan(recipe, level, arithmetic)) {}
LogMel::~LogMel() = default;
LogMel::LogMel(LogMel&&) noexcept = default;
LogMel& LogMel::operator=(LogMel&&) noexcept = default;

const config::MelRecipe& LogMel::recipe() const noexcept { return plan_->recipe; }
SimdLevel LogMel::level() const noexcept { return plan_->level; }
std::size_t LogMel::num_mels() const noexcept { return plan_->bands.num_mels; }

std::size_t LogMel::num_frames(std::size_t num_samples) const noexcept {
  return plan_->grid.num_frames(num_samples);
}

float LogMel::padding_value() const noexcept { return mel_padding_value(plan_->recipe); }

LogMel::Workspace LogMel::make_workspace(std::size_t max_samples) const {
  return Workspace(std::make_unique<MelScratch>(*plan_, max_samples));
}

std::size_t LogMel::run(std::span<const std::int16_t> samples, const MelView& out,
                        Workspace& workspace) const {
  return run_plan(*plan_, samples, out,
                  std::pair(plan_->kernels->run_i16, workspace.scratch_.get()));
}

std::size_t LogMel::run(std::span<const float> samples, const MelView& out,
                        Workspace& workspace) const {
  return run_plan(*plan_, samples, out,
                  std::pair(plan_->kernels->run_f32, workspace.scratch_.get()));
}

std::string_view mel_variant_name(MelVariant variant) {
  switch (variant) {
    case MelVariant::kAuto:
      return "auto";
    case MelVariant::kHopper:
      return "hopper";
    case MelVariant::kPortable:
      return "portable";
    case MelVariant::kGeneral:
      return "general";
  }
  return "unknown";
}

}  // namespace stoker::audio
