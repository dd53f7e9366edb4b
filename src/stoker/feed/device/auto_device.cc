#include "stoker/feed/device/auto_device.h"

namespace stoker::feed {

config::Settings resolve_auto_device(config::Settings settings, AutoMel mel,
                                     const DeviceView* devices) {
  const bool is_named = cuda::parse_device(settings.run.device).take_or_raise() ||
                        settings.gpu.data_gpu || settings.gpu.model_gpu;
  if (is_named) return settings;
  const cuda::DeviceProbe probe = devices == nullptr ? cuda::probe_devices() : devices->probe;
  if (probe.devices.empty()) return settings;
  settings.run.device = Device::cuda(probe.devices.front().index).text();
  if (mel == AutoMel::kHost && settings.gpu.mel_place == config::MelPlace::kAuto) {
    settings.gpu.mel_place = config::MelPlace::kCpu;
  }
  return settings;
}

}  // namespace stoker::feed
