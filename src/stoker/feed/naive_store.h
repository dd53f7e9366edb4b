// The naive loader: one clip after the other, each with files and memory of its own, as loaders
// written item by item do. There to compare with; never chosen by itself.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/feed/row_store.h"
#include "stoker/feed/utterance_store.h"

namespace stoker::feed {

// The rows of `inner`, read from .npy files of their own when `npy_folder` is given, else from
// sound files with the mel computed for each. The values are those of the native loader.
class NaiveStore final : public RowStore {
 public:
  NaiveStore(std::shared_ptr<const UtteranceStore> inner, std::string npy_folder, Io& io);

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

 private:
  std::shared_ptr<const UtteranceStore> inner_;
  std::string npy_folder_;
  Io& io_;
};

}  // namespace stoker::feed
