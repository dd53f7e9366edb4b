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
  return {.code = &cuda::kCudaNone,
          .promised = "a GPU",
          .found = fmt::format("none ({})", view.probe.why_none)};
}

Error no_such_device(const DeviceView& view, int index) {
  return {.code = &cuda::kCudaIndex,
          .promised = fmt::format("GPU {}", index),
          .found = fmt::format("{} GPUs: 0 to {}", view.probe.devices.size(),
                               view.probe.devices.size() - 1)};
}

// Takes the fallback or, with `strict`, ends the run before any work.
void fall_back(Fallbacks& fallbacks, const FallbackCount& kind, const Error& error) {
  fallbacks.take_or_raise(kind, error, "going on in " + kind.to + " mode");
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
    fall_back(fallbacks, {"multi-GPU", "single-GPU", {}}, no_such_device(view, index));
    return single_gpu(single_device(wish, view));
  }
  ModeChoice choice{
      .mode = GpuMode::kMultiGpu, .data_device = *wish.data_gpu, .model_device = *wish.model_gpu};
  if (!view.api->can_reach_peer(choice.data_device, choice.model_device)) {
    const Error error{.code = &cuda::kCudaCall,
                      .promised = "peer copies between the GPUs",
                      .found = fmt::format("none: GPU {} cannot reach GPU {}", choice.data_device,
                                           choice.model_device)};
    fallbacks.take_or_raise({"peer copy", "staged copy", "no peer link"}, error,
                            "batches go through host memory");
    choice.link = PeerLink::kStaged;
  }
  return choice;
}

// A setting that asks for a GPU by itself, and what happens without one.
struct GpuWish {
  const char* key;
  const char* from;
  const char* to;
};

std::vector<GpuWish> gpu_wishes(const config::Settings& settings) {
  std::vector<GpuWish> wishes;
  if (settings.cache.tier == config::CacheTier::kGpu) {
    wishes.push_back({"cache.tier", "gpu tier", "host memory"});
  }
  if (settings.gpu.mel_place == config::MelPlace::kGpu) {
    wishes.push_back({"gpu.mel_place", "GPU mel", "CPU mel"});
  }
  return wishes;
}

std::string why_on_host(const config::Settings& settings, const DeviceView* devices) {
  if (!settings.gpu.prefetch_to_gpu) return "gpu.prefetch_to_gpu = false";
  if (settings.run.device != "auto") return "device = " + settings.run.device;
  const std::string why =
      devices == nullptr ? view_devices().probe.why_none : devices->probe.why_none;
  return why.empty() ? "device = auto, which is the CPU here" : why;
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

ModeWish wish_of(const config::Settings& settings) {
  const auto as_int = [](const auto& value) {
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
  };
  return {.device = cuda::parse_device(settings.run.device).take_or_raise(),
          .data_gpu = as_int(settings.gpu.data_gpu),
          .model_gpu = as_int(settings.gpu.model_gpu)};
}

config::Settings resolve_auto_device(config::Settings settings, AutoMel mel,
                                     const DeviceView* devices) {
  if (wish_of(settings).names_any()) return settings;
  const cuda::DeviceProbe probe = devices == nullptr ? cuda::probe_devices() : devices->probe;
  if (probe.devices.empty()) return settings;
  settings.run.device = Device::cuda(probe.devices.front().index).text();
  if (mel == AutoMel::kHost && settings.gpu.mel_place == config::MelPlace::kAuto) {
    settings.gpu.mel_place = config::MelPlace::kCpu;
  }
  return settings;
}

ModeChoice choose_mode(const ModeWish& wish, const DeviceView& view, Fallbacks& fallbacks) {
  if (wish.device && wish.device->is_cpu()) return {.why_cpu = "--device cpu"};
  const bool wants_two = wish.data_gpu && wish.model_gpu;
  if (view.probe.devices.empty()) {
    if (wish.device) raise(no_device(view));
    if (wish.data_gpu || wish.model_gpu) {
      fall_back(fallbacks, {wants_two ? "multi-GPU" : "single-GPU", "CPU", {}}, no_device(view));
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
  fall_back(fallbacks, {device->text(), "CPU", {}}, error);
}

Json check_build_device(const config::Settings& settings) {
  const auto device = cuda::parse_device(settings.run.device).take_or_raise();
  if (!device || device->is_cpu()) return Json::object();
  Fallbacks fallbacks(policy_of(settings));
  check_named_device(device, view_devices(), fallbacks);
  return fallbacks_json(fallbacks.counts());
}

void refuse_gpu_wishes(const config::Settings& settings, const DeviceView* devices,
                       std::shared_ptr<Fallbacks>& fallbacks) {
  const std::vector<GpuWish> wishes = gpu_wishes(settings);
  if (wishes.empty()) return;
  if (fallbacks == nullptr) fallbacks = std::make_shared<Fallbacks>(policy_of(settings));
  const std::string why = why_on_host(settings, devices);
  for (const GpuWish& wish : wishes) {
    fallbacks->take_or_raise({wish.from, wish.to, {}},
                             {.code = &cuda::kCudaNone,
                              .promised = std::string("a GPU for ") + wish.key + " = gpu",
                              .found = why},
                             std::string("going on with ") + wish.to);
  }
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
