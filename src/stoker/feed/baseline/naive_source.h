// The naive loader: one clip after the other, each with files and memory of its own, as loaders
// written item by item do. There to compare with; never chosen by itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/feed/source/data_set_source.h"
#include "stoker/feed/source/wrapped_source.h"

namespace stoker::feed {

// The rows of `inner`, read from .npy files of their own when `npy_folder` is given, else from
// sound files with the mel computed for each. The values are those of the native loader.
class NaiveSource final : public WrappedSource<DataSetSource> {
 public:
  NaiveSource(std::shared_ptr<const DataSetSource> inner, std::string npy_folder, Io& io);

  std::unique_ptr<UtteranceReader> make_reader() const override;
  std::vector<ArrayKind> arrays() const override { return inner().arrays(); }
  std::vector<FallbackCount> fallbacks() const override { return inner().fallbacks(); }

 private:
  std::string npy_folder_;
  Io& io_;
};

}  // namespace stoker::feed
