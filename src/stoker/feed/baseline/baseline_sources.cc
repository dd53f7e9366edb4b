#include "stoker/feed/baseline/baseline_sources.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "stoker/base/bytes.h"
#include "stoker/base/clock.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/number_text.h"
#include "stoker/base/philox.h"
#include "stoker/cache/format/npy.h"
#include "stoker/cache/maintain/export.h"
#include "stoker/cache/read/fused_read.h"
#include "stoker/cache/read/reader.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/source/data_set_reader.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kMaxNpyBytes = std::uint64_t{1} << 30U;

Error other_length(std::string file, std::uint64_t promised, std::uint64_t found) {
  return {.code = &kFeedFileChanged,
          .place = {.file = std::move(file)},
          .promised = "at most " + grouped(promised) + " steps as planned",
          .found = grouped(found)};
}

// Everything is opened, allocated and thrown away for each utterance: that is the point.
class NaiveReader final : public UtteranceReader {
 public:
  NaiveReader(const DataSetSource& source, const std::string& npy_folder, Io& io)
      : source_(source), npy_folder_(npy_folder), io_(io) {}

  void enter_epoch(std::uint64_t epoch) override { epoch_ = epoch; }
  Result<std::uint32_t> read_tokens(std::uint32_t utterance, std::span<std::int32_t> out) override {
    if (npy_folder_.empty()) return reader().read_tokens(utterance, out);
    const std::string path = path_of("tokens", utterance);
    const Result<cache::NpyArray> tokens = load_npy(path, cache::ElementType::kI32);
    if (!tokens) return tokens.error();
    const std::size_t count = tokens->values.size() / sizeof(std::int32_t);
    if (count > out.size()) return other_length(path, out.size(), count);
    std::memcpy(out.data(), tokens->values.data(), tokens->values.size());
    return static_cast<std::uint32_t>(count);
  }

  Result<std::uint32_t> read_mel(std::uint32_t utterance, const MelTarget& out,
                                 pipeline::FillContext& context) override {
    if (npy_folder_.empty()) return compute_mel(utterance, out, context);
    const std::string path = path_of("mel", utterance);
    const Result<cache::NpyArray> mel = load_npy(path, cache::element_of(source_.cache_dtype()));
    if (!mel) return mel.error();
    const std::uint32_t num_frames = mel->shape.axes[0];
    if (num_frames > out.num_frames) return other_length(path, out.num_frames, num_frames);
    put(mel->values, cache::element_of(source_.cache_dtype()), num_frames, out);
    return num_frames;
  }

  Result<std::uint32_t> read_pcm(std::uint32_t utterance, std::span<std::int16_t> out,
                                 pipeline::FillContext& context) override {
    return reader().read_pcm(utterance, out, context);
  }
  Result<std::uint32_t> read_audio(std::uint32_t utterance, std::span<float> out,
                                   pipeline::FillContext& context) override {
    return reader().read_audio(utterance, out, context);
  }
  Result<std::uint32_t> read_array(std::uint32_t utterance, std::size_t array,
                                   std::span<std::byte> out) override {
    return reader().read_array(utterance, array, out);
  }

 private:
  DataSetReader reader() const {
    DataSetReader reader(source_);
    reader.enter_epoch(epoch_);
    return reader;
  }

  std::string path_of(const char* kind, std::uint32_t utterance) const {
    return npy_folder_ + "/" + kind + "/" + std::string(source_.id(utterance)) + ".npy";
  }

  Result<cache::NpyArray> load_npy(const std::string& path, cache::ElementType element) const {
    const Result<File> file = open_file(io_, path, OpenFor::kRead);
    if (!file) return file.error();
    const Result<std::vector<std::byte>> bytes = read_whole(*file, kMaxNpyBytes);
    if (!bytes) return bytes.error();
    Result<cache::NpyArray> array = cache::decode_npy(path, *bytes);
    if (!array || array->shape.element == element) return array;
    return cache::convert_npy(path, *array, element);
  }

  // Computed into an array of its own, then copied into the batch.
  Result<std::uint32_t> compute_mel(std::uint32_t utterance, const MelTarget& out,
                                    pipeline::FillContext& context) const {
    std::vector<std::byte> mel(std::size_t{out.num_frames} * source_.num_mels() *
                               config::bytes_per_value(out.dtype));
    MelTarget own = out;
    own.values = mel.data();
    Result<std::uint32_t> frames = reader().read_mel(utterance, own, context);
    if (frames) std::memcpy(out.values, mel.data(), mel.size());
    return frames;
  }

  void put(std::span<const std::byte> values, cache::ElementType from, std::uint32_t num_frames,
           const MelTarget& out) const {
    cache::copy_without_crc(
        {.payload = values, .from = from, .to = cache::element_of(out.dtype), .out = out.values});
    const std::size_t num_values = std::size_t{num_frames} * source_.num_mels();
    auto* const end =
        static_cast<std::byte*>(out.values) + num_values * config::bytes_per_value(out.dtype);
    cache::fill_values(end, cache::element_of(out.dtype),
                       std::size_t{out.num_frames} * source_.num_mels() - num_values, out.padding);
  }

  const DataSetSource& source_;
  const std::string& npy_folder_;
  Io& io_;
  std::uint64_t epoch_ = 0;
};

class DelayedReader final : public UtteranceReader {
 public:
  DelayedReader(std::unique_ptr<UtteranceReader> inner, std::chrono::microseconds longest)
      : inner_(std::move(inner)),
        longest_us_(static_cast<std::uint64_t>(longest.count())),
        draws_({static_cast<std::uint64_t>(system_clock().now().count()), "delay", 0, 0}) {}

  void enter_epoch(std::uint64_t epoch) override { inner_->enter_epoch(epoch); }
  Result<std::uint32_t> read_tokens(std::uint32_t utterance, std::span<std::int32_t> out) override {
    return inner_->read_tokens(utterance, out);
  }
  Result<std::uint32_t> read_mel(std::uint32_t utterance, const MelTarget& out,
                                 pipeline::FillContext& context) override {
    delay();
    return inner_->read_mel(utterance, out, context);
  }
  Result<std::uint32_t> read_pcm(std::uint32_t utterance, std::span<std::int16_t> out,
                                 pipeline::FillContext& context) override {
    delay();
    return inner_->read_pcm(utterance, out, context);
  }
  Result<std::uint32_t> read_audio(std::uint32_t utterance, std::span<float> out,
                                   pipeline::FillContext& context) override {
    return inner_->read_audio(utterance, out, context);
  }
  Result<std::uint32_t> read_array(std::uint32_t utterance, std::size_t array,
                                   std::span<std::byte> out) override {
    return inner_->read_array(utterance, array, out);
  }

 private:
  void delay() {
    std::this_thread::sleep_for(std::chrono::microseconds(draws_.next_below(longest_us_ + 1)));
  }

  std::unique_ptr<UtteranceReader> inner_;
  std::uint64_t longest_us_;
  KeyedDraws draws_;
};

class InstantReader final : public UtteranceReader {
 public:
  explicit InstantReader(const DataSetSource& source)
      : source_(source), inner_(source.make_reader()) {}

  Result<std::uint32_t> read_tokens(std::uint32_t utterance, std::span<std::int32_t> out) override {
    return inner_->read_tokens(utterance, out);
  }
  Result<std::uint32_t> read_mel(std::uint32_t utterance, const MelTarget&,
                                 pipeline::FillContext&) override {
    return source_.num_frames(utterance);
  }
  Result<std::uint32_t> read_pcm(std::uint32_t utterance, std::span<std::int16_t>,
                                 pipeline::FillContext&) override {
    return source_.num_frames(utterance) * source_.hop_samples();
  }
  Result<std::uint32_t> read_audio(std::uint32_t utterance, std::span<float> out,
                                   pipeline::FillContext&) override {
    const std::size_t samples = std::size_t{source_.num_frames(utterance)} * source_.hop_samples();
    return static_cast<std::uint32_t>(std::min(samples, out.size()));
  }

 private:
  const DataSetSource& source_;
  std::unique_ptr<UtteranceReader> inner_;
};

// Written last: names the manifest that the files were made from.
constexpr const char* kMark = "made-from";
constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{64} << 20U;

Result<std::string> read_text(Io& io, const std::string& path) {
  Result<File> file = open_file(io, path, OpenFor::kRead);
  if (!file) return file.error();
  Result<std::vector<std::byte>> bytes = read_whole(*file, kMaxManifestBytes);
  if (!bytes) return bytes.error();
  return std::string(view_text(*bytes));
}

Result<std::string> manifest_mark(Io& io, const std::string& cache_folder) {
  Result<std::string> text = read_text(io, cache_folder + "/manifest.json");
  if (!text) return text.error();
  return digest_of(std::string_view(*text)).hex();
}

}  // namespace

std::string npy_folder_of(const std::string& cache_folder) { return cache_folder + "-npy"; }

bool has_npy_folder(Io& io, const std::string& cache_folder) {
  const Result<std::string> wanted = manifest_mark(io, cache_folder);
  const Result<std::string> found = read_text(io, npy_folder_of(cache_folder) + "/" + kMark);
  return wanted && found && *wanted == *found;
}

void export_npy_folder(Io& io, const std::string& cache_folder, const NpyExportOptions& options) {
  if (has_npy_folder(io, cache_folder)) return;
  const std::string out = npy_folder_of(cache_folder);
  const std::string mark = manifest_mark(io, cache_folder).take_or_raise();
  const cache::Reader reader = cache::Reader::open(io, cache_folder).take_or_raise();
  cache::export_cache(reader, io, out,
                      {.ids = {}, .num_workers = options.num_workers, .stop = options.stop});
  if (options.stop.stop_requested()) return;
  const File folder = open_file(io, out, OpenFor::kFolder).take_or_raise();
  publish_file(folder, kMark, view_bytes(mark)).take_or_raise();
}

NaiveSource::NaiveSource(std::shared_ptr<const DataSetSource> inner, std::string npy_folder, Io& io)
    : WrappedSource(std::move(inner)), npy_folder_(std::move(npy_folder)), io_(io) {}

std::unique_ptr<UtteranceReader> NaiveSource::make_reader() const {
  return std::make_unique<NaiveReader>(inner(), npy_folder_, io_);
}

std::unique_ptr<UtteranceReader> DelayedSource::make_reader() const {
  return std::make_unique<DelayedReader>(inner().make_reader(), longest_);
}

std::unique_ptr<UtteranceReader> InstantSource::make_reader() const {
  return std::make_unique<InstantReader>(inner());
}

}  // namespace stoker::feed
