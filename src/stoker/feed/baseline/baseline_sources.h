// Sources that a feed is compared with: the naive loader, utterances that take a random time, and
// utterances that take none. Never chosen by themselves.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/feed/source/data_set_source.h"
#include "stoker/feed/source/wrapped_source.h"

namespace stoker::feed {

// The files that the naive loader reads: one .npy file per utterance beside the cache, as loaders
// without a packed cache use them.
struct NpyExportOptions {
  unsigned num_workers = 1;
  std::stop_token stop{};
};

// "<cache folder>-npy".
std::string npy_folder_of(const std::string& cache_folder);

// Whether every record of the cache as it is now is there.
bool has_npy_folder(Io& io, const std::string& cache_folder);

// Writes mel/<id>.npy and tokens/<id>.npy unless they are there already. Throws what reading and
// writing raise.
void export_npy_folder(Io& io, const std::string& cache_folder, const NpyExportOptions& options);

// The naive loader: one utterance after the other, each with files and memory of its own, as
// loaders written item by item do. Reads .npy files when `npy_folder` is given, else sound files
// with the mel computed for each. The values are those of the native loader.
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

// Sleeps up to `longest` before each mel, differently in every run: shows that nothing a feed
// delivers depends on time.
class DelayedSource final : public WrappedSource<UtteranceSource> {
 public:
  DelayedSource(std::shared_ptr<const UtteranceSource> inner, std::chrono::microseconds longest)
      : WrappedSource(std::move(inner)), longest_(longest) {}

  std::unique_ptr<UtteranceReader> make_reader() const override;
  std::vector<ArrayKind> arrays() const override { return inner().arrays(); }
  std::vector<FallbackCount> fallbacks() const override { return inner().fallbacks(); }
  void will_need(std::span<const std::uint32_t> utterances) const override {
    inner().will_need(utterances);
  }

 private:
  std::chrono::microseconds longest_;
};

// Utterances have their true lengths and tokens; mels and samples are whatever the memory holds:
// shows what the transfer from filled slots to the GPU can do.
class InstantSource final : public WrappedSource<DataSetSource> {
 public:
  using WrappedSource::WrappedSource;

  std::unique_ptr<UtteranceReader> make_reader() const override;
};

}  // namespace stoker::feed
