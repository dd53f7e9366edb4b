// The machine around a watched feed: the sampler, pointed at the data and the GPU of the settings.
#include <memory>
#include <string>
#include <utility>

#include "stoker/feed/device/gpu_mode.h"
#include "stoker/observe/diagnose/watched_run.h"
#include "stoker/observe/machine/machine_sampler.h"

namespace stoker::observe {
namespace {

constexpr std::size_t kMostFiles = 4096;

class SampledMachine final : public MachineWatch {
 public:
  explicit SampledMachine(MachineSources sources) : sampler_(std::move(sources)) {}
  void begin() override { begun_ = sampler_.mark(); }
  std::optional<MachineWindow> end() override { return sampler_.window(begun_, sampler_.mark()); }

 private:
  MachineSampler sampler_;
  std::chrono::nanoseconds begun_{};
};

std::vector<std::string> files_of(const feed::DataSetSource& source) {
  std::vector<std::string> files;
  const data::Index& index = source.index();
  const std::size_t stride = index.size() / kMostFiles + 1;
  for (std::size_t i = 0; i < index.size(); i += stride) {
    const data::Utterance utterance = index[i];
    files.push_back(index.sources()[utterance.source].root.path() + "/" +
                    std::string(utterance.file));
  }
  return files;
}

}  // namespace

MachineSources machine_sources(const feed::OpenedFeed& opened, const config::Settings& settings) {
  MachineSources sources;
  const cache::Reader* reader = opened.source->reader();
  sources.data_path = reader != nullptr ? reader->folder() : settings.data.path;
  if (reader == nullptr) sources.data_files = files_of(*opened.source);
  if (opened.mode.choice.mode != feed::GpuMode::kCpu)
    sources.gauge = open_gpu_gauge(opened.mode.choice.model_device);
  return sources;
}

std::unique_ptr<MachineWatch> watch_machine(const feed::OpenedFeed& opened,
                                            const config::Settings& settings) {
  return std::make_unique<SampledMachine>(machine_sources(opened, settings));
}

}  // namespace stoker::observe
