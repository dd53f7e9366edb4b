#include "stoker/cuda/device_probe.h"

namespace stoker::cuda {

DeviceProbe probe_devices() { return {{}, "built without CUDA"}; }

}  // namespace stoker::cuda
