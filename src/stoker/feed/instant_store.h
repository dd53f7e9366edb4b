// A store whose features take no time: shows what the way from filled slots to the GPU can do.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "stoker/feed/row_store.h"
#include "stoker/feed/utterance_store.h"

namespace stoker::feed {

// Rows have their true lengths and tokens; mels and samples are whatever the memory holds. For
// benchmarks.
class InstantStore final : public RowStore {
 public:
  explicit InstantStore(std::shared_ptr<const UtteranceStore> inner) : inner_(std::move(inner)) {}

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

 private:
  std::shared_ptr<const UtteranceStore> inner_;
};

}  // namespace stoker::feed
