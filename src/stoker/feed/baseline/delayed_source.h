// A store whose rows take a random time: shows that nothing a feed delivers depends on time.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "stoker/feed/source/wrapped_source.h"

namespace stoker::feed {

// Sleeps up to `longest` before each mel, differently in every run.
class DelayedSource final : public WrappedSource<UtteranceSource> {
 public:
  DelayedSource(std::shared_ptr<const UtteranceSource> inner, std::chrono::microseconds longest)
      : WrappedSource(std::move(inner)), longest_(longest) {}

  std::unique_ptr<UtteranceReader> make_reader() const override;
  std::vector<ArrayKind> arrays() const override { return inner().arrays(); }
  std::vector<FallbackCount> fallbacks() const override { return inner().fallbacks(); }
  void will_need(std::span<const std::uint32_t> rows) const override { inner().will_need(rows); }

 private:
  std::chrono::microseconds longest_;
};

}  // namespace stoker::feed
