#include "stoker/feed/baseline/delayed_source.h"

#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/philox.h"

namespace stoker::feed {
namespace {

class DelayedReader final : public UtteranceReader {
 public:
  DelayedReader(std::unique_ptr<UtteranceReader> inner, std::chrono::microseconds longest)
      : inner_(std::move(inner)),
        longest_us_(static_cast<std::uint64_t>(longest.count())),
        draws_({static_cast<std::uint64_t>(system_clock().now().count()), "delay", 0, 0}) {}

  void enter_epoch(std::uint64_t epoch) override { inner_->enter_epoch(epoch); }
  Result<std::uint32_t> read_tokens(std::uint32_t row, std::span<std::int32_t> out) override {
    return inner_->read_tokens(row, out);
  }
  Result<std::uint32_t> read_mel(std::uint32_t row, const MelTarget& out,
                                 pipeline::FillContext& context) override {
    std::this_thread::sleep_for(std::chrono::microseconds(draws_.next_below(longest_us_ + 1)));
    return inner_->read_mel(row, out, context);
  }
  Result<std::uint32_t> read_pcm(std::uint32_t row, std::span<std::int16_t> out,
                                 pipeline::FillContext& context) override {
    std::this_thread::sleep_for(std::chrono::microseconds(draws_.next_below(longest_us_ + 1)));
    return inner_->read_pcm(row, out, context);
  }
  Result<std::uint32_t> read_audio(std::uint32_t row, std::span<float> out,
                                   pipeline::FillContext& context) override {
    return inner_->read_audio(row, out, context);
  }
  Result<std::uint32_t> read_array(std::uint32_t row, std::size_t array,
                                   std::span<std::byte> out) override {
    return inner_->read_array(row, array, out);
  }

 private:
  std::unique_ptr<UtteranceReader> inner_;
  std::uint64_t longest_us_;
  KeyedDraws draws_;
};

}  // namespace

std::unique_ptr<UtteranceReader> DelayedSource::make_reader() const {
  return std::make_unique<DelayedReader>(inner().make_reader(), longest_);
}

}  // namespace stoker::feed
