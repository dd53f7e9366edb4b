#include "stoker/feed/baseline/instant_source.h"

#include <algorithm>

namespace stoker::feed {
namespace {

class InstantReader final : public UtteranceReader {
 public:
  explicit InstantReader(const DataSetSource& store) : store_(store), inner_(store.make_reader()) {}

  Result<std::uint32_t> read_tokens(std::uint32_t row, std::span<std::int32_t> out) override {
    return inner_->read_tokens(row, out);
  }
  Result<std::uint32_t> read_mel(std::uint32_t row, const MelTarget&,
                                 pipeline::FillContext&) override {
    return store_.num_frames(row);
  }
  Result<std::uint32_t> read_pcm(std::uint32_t row, std::span<std::int16_t>,
                                 pipeline::FillContext&) override {
    return store_.num_frames(row) * store_.hop_samples();
  }
  Result<std::uint32_t> read_audio(std::uint32_t row, std::span<float> out,
                                   pipeline::FillContext&) override {
    const std::size_t samples = std::size_t{store_.num_frames(row)} * store_.hop_samples();
    return static_cast<std::uint32_t>(std::min(samples, out.size()));
  }

 private:
  const DataSetSource& store_;
  std::unique_ptr<UtteranceReader> inner_;
};

}  // namespace

std::unique_ptr<UtteranceReader> InstantSource::make_reader() const {
  return std::make_unique<InstantReader>(inner());
}

}  // namespace stoker::feed
