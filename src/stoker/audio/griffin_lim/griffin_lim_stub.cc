#include "stoker/audio/griffin_lim/griffin_lim.h"
#include "stoker/audio/griffin_lim/mel_inverse.h"
#include "stoker/base/invariant.h"
#include "stoker/cuda/errors.h"

namespace stoker::audio {

struct DeviceGriffinLimPlan {};

Result<DeviceGriffinLim> DeviceGriffinLim::make(const config::MelRecipe& recipe,
                                                const GriffinLimOptions& /*options*/,
                                                int /*device*/) {
  if (Result<void> invertible = check_invertible(recipe); !invertible) return invertible.error();
  raise({.code = &cuda::kCudaNone,
         .place = {},
         .promised = "a GPU for Griffin-Lim",
         .found = "a build without CUDA",
         .action = {},
         .cure = {}});
}

// No object is ever made, so none of these is ever called.
DeviceGriffinLim::~DeviceGriffinLim() = default;
DeviceGriffinLim::DeviceGriffinLim(DeviceGriffinLim&&) noexcept = default;
DeviceGriffinLim& DeviceGriffinLim::operator=(DeviceGriffinLim&&) noexcept = default;
std::size_t DeviceGriffinLim::num_samples(std::size_t /*num_frames*/) const noexcept { return 0; }
std::size_t DeviceGriffinLim::scratch_bytes(std::size_t /*num_utterances*/,
                                            std::size_t /*padded_frames*/) const noexcept {
  return 0;
}
void DeviceGriffinLim::run(const DeviceWaveBatch& /*batch*/, cuda::StreamView /*stream*/) const {
  check_invariant(false, "a build without CUDA has no DeviceGriffinLim");
}

}  // namespace stoker::audio
