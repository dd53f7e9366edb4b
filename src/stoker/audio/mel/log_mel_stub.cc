#include "stoker/audio/mel/log_mel.h"
#include "stoker/base/invariant.h"
#include "stoker/cuda/errors.h"

namespace stoker::audio {

struct DeviceMelPlan {
  config::MelRecipe recipe;
};

DeviceLogMel::DeviceLogMel(const config::MelRecipe& recipe, const Options& /*options*/) {
  config::check_mel_recipe(recipe);
  raise({.code = &cuda::kCudaNone,
         .place = {},
         .promised = "a GPU for log-mel",
         .found = "a build without CUDA",
         .action = {},
         .cure = {}});
}

// No object is ever made, so none of these is ever called.
DeviceLogMel::~DeviceLogMel() = default;
DeviceLogMel::DeviceLogMel(DeviceLogMel&&) noexcept = default;
DeviceLogMel& DeviceLogMel::operator=(DeviceLogMel&&) noexcept = default;
MelVariant DeviceLogMel::variant() const noexcept { return MelVariant::kGeneral; }
const config::MelRecipe& DeviceLogMel::recipe() const noexcept { return plan_->recipe; }
std::size_t DeviceLogMel::num_mels() const noexcept { return 0; }
std::size_t DeviceLogMel::num_frames(std::size_t /*num_samples*/) const noexcept { return 0; }
float DeviceLogMel::padding_value() const noexcept { return 0.0F; }
std::size_t DeviceLogMel::scratch_bytes(std::size_t /*max_utterances*/,
                                        std::size_t /*padded_frames*/) const noexcept {
  return 0;
}
void DeviceLogMel::run(const DeviceMelBatch& /*batch*/, cuda::StreamView /*stream*/) const {
  check_invariant(false, "a build without CUDA has no DeviceLogMel");
}

}  // namespace stoker::audio
