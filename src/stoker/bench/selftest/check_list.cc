// The checks of the self-test in their order, and those of a GPU.
#include <fmt/format.h>

#include "stoker/base/cpu_count.h"
#include "stoker/bench/device_mel_bench.h"
#include "stoker/bench/feed_bench_case.h"
#include "stoker/bench/feed_window.h"
#include "stoker/bench/selftest/feed_checks.h"
#include "stoker/bench/selftest/selftest.h"
#include "stoker/bench/selftest/sound_checks.h"
#include "stoker/cuda/device_probe.h"
#include "stoker/cuda/errors.h"
#include "stoker/observe/feed_limits.h"

namespace stoker::bench {
namespace {

constexpr const char* kReport =
    "see that the scratch folder above is good; if it is, please report the line with the output "
    "of stoker --version";
constexpr const char* kFolderCure =
    "set TMPDIR to a folder that this user may write and that has 100 MB free";
constexpr const char* kGpuCure = "see that nvidia-smi lists the GPU and that this user may use it";

cuda::DeviceInfo first_gpu() {
  const cuda::DeviceProbe probe = cuda::probe_devices();
  if (probe.devices.empty())
    raise({.code = &cuda::kCudaNone, .promised = "a GPU", .found = probe.why_none});
  return probe.devices.front();
}

std::string check_gpu(const SelftestPlace&) {
  const cuda::DeviceInfo gpu = first_gpu();
  return fmt::format("{}, {} MiB, sm_{}{}", gpu.name, gpu.memory_bytes >> 20U, gpu.compute_major,
                     gpu.compute_minor);
}

std::string check_gpu_mel(const SelftestPlace& place) {
  const int device = first_gpu().index;
  const DeviceMelBench bench({.device = device,
                              .num_utterances = 32,
                              .batches = {8, 32},
                              .repetitions = 1,
                              .num_threads = count_cpus().allowed});
  const DeviceMelRow row = bench.run({}, place.stop);
  expect(row.agreement.num_wrong == 0, "the mels of the CPU within the tolerance",
         fmt::format("{} values off, the largest by {:.1e}", row.agreement.num_wrong,
                     row.agreement.largest_loud));
  expect(row.repeatable, "equal bytes for every batch size", "others");
  return fmt::format("32 clips as on the CPU, largest difference {:.1e}",
                     row.agreement.largest_loud);
}

std::string check_pinned(const SelftestPlace&) {
  const observe::TransferLimits limits =
      observe::measure_transfer_limits({.device = first_gpu().index, .seconds = 0.2});
  const double gb_per_s = limits.bus_bytes_per_s / 1e9;
  expect(gb_per_s > 0.5, "more than 0.5 GB/s from page-locked memory",
         fmt::format("{:.2f} GB/s", gb_per_s));
  return fmt::format("page-locked memory to the GPU at {:.1f} GB/s", gb_per_s);
}

std::string check_gpu_feed(const SelftestPlace& place) {
  config::Settings settings = selftest_settings(place);
  settings.run.device = fmt::format("cuda:{}", first_gpu().index);
  for (const config::MelPlace mel : {config::MelPlace::kCpu, config::MelPlace::kGpu}) {
    settings.gpu.mel_place = mel;
    const bool is_cached = mel == config::MelPlace::kCpu;
    const FeedPath path = is_cached ? FeedPath::kCached : FeedPath::kFiles;
    const FeedBenchCase what{
        .path = path, .changed = {}, .settings = with_path(settings, FeedLoader::kNative, path)};
    check_feed_case(*place.io, what, place.stop);
  }
  return "batches in GPU memory, cached and with the mel made there, as made one by one";
}

}  // namespace

std::vector<SelfCheck> host_checks() {
  return {{"scratch folder", check_folder, kFolderCure},
          {"decode", check_decoding, kReport},
          {"resample", check_resampling, kReport},
          {"mel", check_mel, kReport},
          {"text", check_text, kReport},
          {"data set", check_voice, kFolderCure},
          {"cache", check_cache, kReport},
          {"workers", check_workers, kReport},
          {"resume", check_resume, kReport},
          {"stability", check_stability,
           "other programs keep the cores busy, or fewer are allowed than it seems: stoker "
           "diagnose says which"}};
}

std::vector<SelfCheck> gpu_checks() {
  return {{"gpu", check_gpu, kGpuCure},
          {"gpu mel", check_gpu_mel, kReport},
          {"pinned memory", check_pinned,
           "raise the limit of locked memory (ulimit -l), or move the card to a faster slot"},
          {"gpu feed", check_gpu_feed, kReport}};
}

}  // namespace stoker::bench
