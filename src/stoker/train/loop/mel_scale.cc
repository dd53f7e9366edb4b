#include "stoker/train/loop/mel_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/pipeline/slot_filler.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

struct Sums {
  double values = 0;
  double squares = 0;
  std::uint64_t count = 0;
};

// Reads utterances one after the other; each thread has its own.
class ScaleReader {
 public:
  ScaleReader(const feed::DataSetSource& source, std::stop_token stop)
      : source_(source),
        reader_(source.make_reader()),
        context_({}, activity_, system_clock(), std::move(stop)) {
    reader_->enter_epoch(0);
  }

  Sums sums_of(std::uint32_t utterance) {
    const std::uint32_t num_frames = source_.num_frames(utterance);
    values_.resize(std::size_t{num_frames} * source_.num_mels());
    const Result<std::uint32_t> read = reader_->read_mel(
        utterance,
        {.values = values_.data(), .dtype = config::MelDtype::kF32, .num_frames = num_frames},
        context_);
    if (!read) {
      if (read.error().code->exit != ExitCode::kData) raise(read.error());
      return {};
    }
    Sums sums{.count = std::uint64_t{*read} * source_.num_mels()};
    for (std::size_t i = 0; i < sums.count; ++i) {
      const double value = values_[i];
      sums.values += value;
      sums.squares += value * value;
    }
    return sums;
  }

 private:
  const feed::DataSetSource& source_;
  std::unique_ptr<feed::UtteranceReader> reader_;
  pipeline::Activity activity_;
  pipeline::FillContext context_;
  std::vector<float> values_;
};

// Neighbours in the index are read by one thread, for the sake of the disk.
constexpr std::size_t kUtterancesAtOnce = 64;

std::vector<Sums> all_sums(const feed::DataSetSource& source, const MelScaleOptions& options) {
  const std::uint64_t num_all = source.num_utterances();
  const std::uint64_t num_used = std::min<std::uint64_t>(num_all, options.most_utterances);
  std::vector<Sums> sums(num_used);
  const std::size_t num_parts = (sums.size() + kUtterancesAtOnce - 1) / kUtterancesAtOnce;
  run_parallel(options.num_workers, num_parts, [&](std::size_t part) {
    ScaleReader reader(source, options.stop);
    const std::size_t end = std::min(sums.size(), (part + 1) * kUtterancesAtOnce);
    for (std::size_t i = part * kUtterancesAtOnce; i < end; ++i) {
      if (options.stop.stop_requested()) return;
      sums[i] = reader.sums_of(static_cast<std::uint32_t>(i * num_all / num_used));
    }
  });
  return sums;
}

}  // namespace

MelScale measure_mel_scale(const feed::DataSetSource& source, const MelScaleOptions& options) {
  Sums total;
  for (const Sums& each : all_sums(source, options)) {
    total.values += each.values;
    total.squares += each.squares;
    total.count += each.count;
  }
  if (options.stop.stop_requested()) return {};
  const double count = static_cast<double>(std::max<std::uint64_t>(total.count, 1));
  const double mean = total.values / count;
  const double variance = total.squares / count - mean * mean;
  if (total.count == 0 || !(variance > 1e-12))
    raise({.code = &kTrainData,
           .promised = "mels that differ, to measure their mean and deviation",
           .found = fmt::format("{} values with a variance of {:.3g}", total.count, variance)});
  return {.mean = mean, .deviation = std::sqrt(variance)};
}

std::optional<MelScale> given_mel_scale(const config::TrainingSettings& training) {
  if (training.mel_mean.has_value() != training.mel_std.has_value())
    raise({.code = &kTrainSettings,
           .promised = "training.mel_mean and training.mel_std together",
           .found = training.mel_mean ? "mel_mean alone" : "mel_std alone",
           .cure = "give both, or neither to have them measured"});
  if (!training.mel_mean) return std::nullopt;
  return MelScale{.mean = *training.mel_mean, .deviation = *training.mel_std};
}

}  // namespace stoker::train
