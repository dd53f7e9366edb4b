// A store whose rows take a random time: shows that nothing a feed delivers depends on time.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "stoker/feed/same_rows_store.h"

namespace stoker::feed {

// Sleeps up to `longest` before each mel, differently in every run.
class DelayedStore final : public SameRowsStore<RowStore> {
 public:
  DelayedStore(std::shared_ptr<const RowStore> inner, std::chrono::microseconds longest)
      : SameRowsStore(std::move(inner)), longest_(longest) {}

  std::unique_ptr<RowReader> make_reader() const override;
  std::vector<ArrayKind> arrays() const override { return inner().arrays(); }
  std::vector<FallbackCount> fallbacks() const override { return inner().fallbacks(); }
  void will_need(std::span<const std::uint32_t> rows) const override { inner().will_need(rows); }

 private:
  std::chrono::microseconds longest_;
};

}  // namespace stoker::feed
