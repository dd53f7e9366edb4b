// A store whose rows take a random time: shows that nothing a feed delivers depends on time.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "stoker/feed/row_store.h"

namespace stoker::feed {

// Sleeps up to `longest` before each mel, differently in every run.
class DelayedStore final : public RowStore {
 public:
  DelayedStore(std::shared_ptr<const RowStore> inner, std::chrono::microseconds longest)
      : inner_(std::move(inner)), longest_(longest) {}

  std::uint32_t num_rows() const override { return inner_->num_rows(); }
  std::string_view id(std::uint32_t row) const override { return inner_->id(row); }
  std::int32_t speaker(std::uint32_t row) const override { return inner_->speaker(row); }
  std::int32_t language(std::uint32_t row) const override { return inner_->language(row); }
  std::string file(std::uint32_t row) const override { return inner_->file(row); }
  std::uint64_t line(std::uint32_t row) const override { return inner_->line(row); }
  std::uint32_t num_mels() const override { return inner_->num_mels(); }
  std::uint32_t hop_samples() const override { return inner_->hop_samples(); }
  float padding() const override { return inner_->padding(); }
  std::unique_ptr<RowReader> make_reader() const override;
  std::vector<ArrayKind> arrays() const override { return inner_->arrays(); }
  std::vector<FallbackCount> fallbacks() const override { return inner_->fallbacks(); }
  void will_need(std::span<const std::uint32_t> rows) const override { inner_->will_need(rows); }

 private:
  std::shared_ptr<const RowStore> inner_;
  std::chrono::microseconds longest_;
};

}  // namespace stoker::feed
