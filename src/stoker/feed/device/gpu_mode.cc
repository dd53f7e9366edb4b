#include "stoker/feed/device/gpu_mode.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/cuda/errors.h"

namespace stoker::feed {
namespace {

constexpr double kBytesPerGib = 1024.0 * 1024.0 * 1024.0;

const cuda::DeviceInfo* find_device(const DeviceView& view, int index) {
  const auto& devices = view.probe.devices;
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const auto& each) { return each.index == index; });
  return found == devices.end() ? nullptr : &*found;
}

Error no_device(const DeviceView& view) {
  return {.code = &cuda::kCudaNone, .promised = "a GPU", .found = view.probe.why_none};
}

Error no_such_device(const DeviceView& view, int index) {
  return {.code = &cuda::kCudaIndex,
          .promised = fmt::format("GPU {}", index),
          .found = fmt::format("{} here: 0 to {}", view.probe.devices.size(),
                               view.probe.devices.size() - 1)};
}

// Takes the fallback or, with `strict`, ends the run before any work.
void fall_back(Fallbacks& fallbacks, const FallbackCount& kind, const Error& error) {
  if (!fallbacks.are_allowed()) raise(Error(error));
  fallbacks.take(kind, error_line(error) + "; going on in " + kind.to + " mode");
}

ModeChoice single_gpu(int device) {
  return {.mode = GpuMode::kSingleGpu, .data_device = device, .model_device = device};
}

// Where the model or the features were meant to be, if that GPU is there, else the first.
int single_device(const ModeWish& wish, const DeviceView& view) {
  for (const std::optional<int>& wanted : {wish.model_gpu, wish.data_gpu}) {
    if (wanted && find_device(view, *wanted) != nullptr) return *wanted;
  }
  return wish.device ? wish.device->index() : view.probe.devices.front().index;
}

ModeChoice multi_gpu(const ModeWish& wish, const DeviceView& view, Fallbacks& fallbacks) {
  for (const int index : {*wish.data_gpu, *wish.model_gpu}) {
    if (find_device(view, index) != nullptr) continue;
    fall_back(fallbacks, {"multi-GPU", "single-GPU", std::string(cuda::kCudaIndex.name)},
              no_such_device(view, index));
    return single_gpu(single_device(wish, view));
  }
  ModeChoice choice{
      .mode = GpuMode::kMultiGpu, .data_device = *wish.data_gpu, .model_device = *wish.model_gpu};
  if (!view.api->can_reach_peer(choice.data_device, choice.model_device)) {
    const Error error{.code = &cuda::kCudaCall,
                      .promised = "peer copies between the GPUs",
                      .found = fmt::format("GPU {} cannot reach GPU {}", choice.data_device,
                                           choice.model_device)};
    if (!fallbacks.are_allowed()) raise(Error(error));
    fallbacks.take({"peer copy", "staged copy", "no peer link"},
                   error_line(error) + "; batches go through host memory");
    choice.link = PeerLink::kStaged;
  }
  return choice;
}

std::string device_text(const DeviceView& view, int index) {
  const cuda::DeviceInfo* const info = find_device(view, index);
  return fmt::format("{} ({})", index, info == nullptr ? "?" : info->name);
}

std::string prefetch_line(const ModeChoice& choice, const ModeFacts& facts) {
  const std::string reason = facts.buffer_reason.empty() ? "" : ", chosen: " + facts.buffer_reason;
  return fmt::format("  - Prefetching to GPU {} with buffer_size={} ({:.1f} of {:.1f} GiB){}",
                     choice.data_device, facts.buffer_size,
                     static_cast<double>(facts.used_bytes) / kBytesPerGib,
                     static_cast<double>(facts.allowed_bytes) / kBytesPerGib, reason);
}

}  // namespace

DeviceView view_devices() { return {.probe = cuda::probe_devices()}; }

ModeChoice choose_mode(const ModeWish& wish, const DeviceView& view, Fallbacks& fallbacks) {
  if (wish.device && wish.device->is_cpu()) return {.why_cpu = "--device cpu"};
  const bool wants_two = wish.data_gpu && wish.model_gpu;
  if (view.probe.devices.empty()) {
    if (wish.device) raise(no_device(view));
    if (wish.data_gpu || wish.model_gpu) {
      fall_back(fallbacks,
                {wants_two ? "multi-GPU" : "single-GPU", "CPU", std::string(cuda::kCudaNone.name)},
                no_device(view));
    }
    return {.why_cpu = view.probe.why_none};
  }
  if (wish.device && find_device(view, wish.device->index()) == nullptr) {
    raise(no_such_device(view, wish.device->index()));
  }
  if (wants_two) return multi_gpu(wish, view, fallbacks);
  return single_gpu(single_device(wish, view));
}

void check_named_device(const std::optional<Device>& device, const DeviceView& view,
                        Fallbacks& fallbacks) {
  if (!device || device->is_cpu() || find_device(view, device->index()) != nullptr) return;
  const Error error =
      view.probe.devices.empty() ? no_device(view) : no_such_device(view, device->index());
  fall_back(fallbacks, {device->text(), "CPU", std::string(error.code->name)}, error);
}

std::vector<std::string> mode_lines(const ModeChoice& choice, const DeviceView& view,
                                    const ModeFacts& facts) {
  switch (choice.mode) {
    case GpuMode::kMultiGpu:
      return {"Intelligent GPU Pipeline: Multi-GPU Mode",
              "  - Data Processing GPU: " + device_text(view, choice.data_device),
              "  - Model Training GPU: " + device_text(view, choice.model_device) +
                  (choice.link == PeerLink::kPeer ? ", peer copies on" : ", copies through host"),
              prefetch_line(choice, facts)};
    case GpuMode::kSingleGpu:
      if (facts.prefetching.empty()) {
        return {"Intelligent GPU Pipeline: Single-GPU Buffered Mode",
                "  - Smart Prefetching: Disabled"};
      }
      return {"Intelligent GPU Pipeline: Single-GPU Buffered Mode",
              fmt::format("  - Buffer Size: {}", facts.buffer_size),
              "  - Smart Prefetching: Enabled (" + facts.prefetching + ")",
              prefetch_line(choice, facts)};
    case GpuMode::kCpu:
      break;
  }
  return {"Intelligent GPU Pipeline: CPU Mode", "  - " + choice.why_cpu};
}

}  // namespace stoker::feed
