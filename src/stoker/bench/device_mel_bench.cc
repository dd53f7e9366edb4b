#include "stoker/bench/device_mel_bench.h"

#include <algorithm>
#include <utility>

#include "stoker/bench/mel_bench.h"
#include "stoker/cuda/device_probe.h"
#include "stoker/cuda/event.h"
#include "stoker/cuda/graph.h"
#include "stoker/observe/statistics.h"

namespace stoker::bench {
namespace {

template <class T>
cuda::DeviceBuffer upload(const std::vector<T>& values, int device, const cuda::Stream& stream) {
  cuda::DeviceBuffer buffer(device, values.size() * sizeof(T));
  cuda::system_device_api().copy(
      {buffer.data(), values.data(), buffer.size_bytes(), cuda::CopyKind::kToDevice},
      stream.view().handle());
  stream.synchronize();
  return buffer;
}

// Milliseconds of `work` on the GPU, the median of `repetitions` after one that warms up.
template <class Work>
double median_ms(int device, const cuda::Stream& stream, std::size_t repetitions, Work work) {
  cuda::Event begin(device, cuda::EventUse::kTiming);
  cuda::Event end(device, cuda::EventUse::kTiming);
  std::vector<double> times_ms;
  for (std::size_t i = 0; i <= repetitions; ++i) {
    begin.record(stream);
    work();
    end.record(stream);
    end.synchronize();
    if (i > 0) times_ms.push_back(end.ms_since(begin));
  }
  return observe::median_of(std::move(times_ms));
}

// Bytes read and written each second by a large copy on the GPU.
double measure_copy(int device, const cuda::Stream& stream) {
  constexpr std::size_t kBytes = std::size_t{1} << 30U;
  const cuda::DeviceBuffer from(device, kBytes);
  const cuda::DeviceBuffer to(device, kBytes);
  const double ms = median_ms(device, stream, 9, [&] {
    cuda::system_device_api().copy({to.data(), from.data(), kBytes, cuda::CopyKind::kOnDevice},
                                   stream.view().handle());
  });
  return 2.0 * static_cast<double>(kBytes) / (ms * 1e-3);
}

cuda::DeviceInfo info_of(int device) {
  const cuda::DeviceProbe probe = cuda::probe_devices();
  for (const cuda::DeviceInfo& info : probe.devices) {
    if (info.index == device) return info;
  }
  return {};
}

}  // namespace

struct DeviceMelBench::Shared {
  explicit Shared(const Options& bench_options)
      : options(bench_options),
        stream(bench_options.device),
        gpu(info_of(bench_options.device)),
        pool(bench_options.num_utterances, bench_options.num_threads),
        samples(upload(pool.samples, bench_options.device, stream)),
        begins(upload(pool.begins, bench_options.device, stream)),
        lengths(upload(pool.lengths, bench_options.device, stream)),
        copy_bytes_per_s(measure_copy(bench_options.device, stream)) {}

  audio::DeviceMelBatch whole() const {
    return {.samples = samples.data(),
            .begins = begins.as<const std::int64_t>(),
            .lengths = lengths.as<const std::int32_t>()};
  }
  // Of the whole pool, padding not counted.
  double num_frames(const audio::DeviceLogMel& mel) const {
    double frames = 0;
    for (const std::int32_t length : pool.lengths) {
      frames += static_cast<double>(mel.num_frames(static_cast<std::size_t>(length)));
    }
    return frames;
  }

  Options options;
  cuda::Stream stream;
  cuda::DeviceInfo gpu;
  MelPool pool;
  cuda::DeviceBuffer samples;
  cuda::DeviceBuffer begins;
  cuda::DeviceBuffer lengths;
  double copy_bytes_per_s;
};

DeviceMelBench::DeviceMelBench(const Options& options)
    : shared_(std::make_unique<Shared>(options)) {}
DeviceMelBench::~DeviceMelBench() = default;

const std::string& DeviceMelBench::gpu_name() const { return shared_->gpu.name; }
double DeviceMelBench::copy_bytes_per_s() const { return shared_->copy_bytes_per_s; }
double DeviceMelBench::pool_bytes() const {
  return static_cast<double>(shared_->samples.size_bytes());
}
double DeviceMelBench::mean_s() const {
  double total = 0;
  for (const std::int32_t length : shared_->pool.lengths) total += length;
  return total / static_cast<double>(shared_->pool.lengths.size()) / 22050.0;
}

DeviceMelRow DeviceMelBench::run(const DeviceMelCase& bench_case,
                                 const std::stop_token& stop) const {
  const Options& options = shared_->options;
  const DeviceMelRun run(bench_case, options.device, shared_->pool, shared_->stream);
  const std::size_t num_utterances = shared_->pool.lengths.size();
  run.spoil_out();
  run.run_pool(shared_->whole(), num_utterances);
  const std::vector<std::byte> expected = run.read_out();
  DeviceMelRow row;
  row.variant = run.mel().variant();
  row.agreement = run.compare_with_cpu(expected, options.num_threads);
  row.repeatable = true;
  const double flops = mel_flops_per_frame(bench_case.recipe) * shared_->num_frames(run.mel());
  for (const std::size_t batch : options.batches) {
    if (stop.stop_requested() || batch == 0 || num_utterances % batch != 0) continue;
    run.spoil_out();
    const cuda::Graph graph =
        cuda::Graph::record(shared_->stream, [&] { run.run_pool(shared_->whole(), batch); });
    const double ms = median_ms(options.device, shared_->stream, options.repetitions,
                                [&] { graph.launch(shared_->stream); });
    row.repeatable = row.repeatable && run.read_out() == expected;
    const double s = ms * 1e-3;
    const double moved_bytes = pool_bytes() + static_cast<double>(run.out_bytes());
    row.speeds.push_back(
        {.batch = batch,
         .utterances_per_s = static_cast<double>(num_utterances) / s,
         .batch_us = s * 1e6 * static_cast<double>(batch) / static_cast<double>(num_utterances),
         .memory_share = moved_bytes / s / copy_bytes_per_s(),
         .gflops = flops / s * 1e-9});
  }
  return row;
}

}  // namespace stoker::bench
