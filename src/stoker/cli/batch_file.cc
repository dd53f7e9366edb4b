#include "stoker/cli/batch_file.h"

#include <fmt/format.h>

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include "stoker/base/io/zip_store.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/format/npy.h"
#include "stoker/cli/errors.h"

namespace stoker::cli {
namespace {

using cache::ElementType;

cache::ArrayShape shape_of(ElementType element, std::initializer_list<std::size_t> axes) {
  cache::ArrayShape shape{.element = element, .rank = static_cast<std::uint16_t>(axes.size())};
  std::size_t axis = 0;
  for (const std::size_t length : axes) shape.axes[axis++] = static_cast<std::uint32_t>(length);
  return shape;
}

// One .npz file in the making.
class BatchFile {
 public:
  void add(std::string_view name, std::span<const std::byte> npy) {
    add_batch_array(zip_, name, npy);
  }

  void add(std::string_view name, const cache::ArrayShape& shape, const void* values) {
    const std::size_t num_bytes = shape.payload_bytes().value_or(0);
    add(name, cache::encode_npy(shape, {static_cast<const std::byte*>(values), num_bytes}));
  }

  void add(std::string_view name, std::span<const std::int32_t> values) {
    add(name, shape_of(ElementType::kI32, {values.size()}), values.data());
  }
  void add(std::string_view name, std::span<const std::uint32_t> values) {
    add(name, shape_of(ElementType::kU32, {values.size()}), values.data());
  }
  void add(std::string_view name, std::uint64_t value) {
    add(name, shape_of(ElementType::kU64, {1}), &value);
  }
  // Arrays that were not asked for have no data and are left out.
  void add(std::string_view name, const feed::MelArray& mel) {
    if (mel.data == nullptr) return;
    add(name, shape_of(cache::element_of(mel.dtype), {mel.shape[0], mel.shape[1], mel.shape[2]}),
        mel.data);
  }
  void add(std::string_view name, const feed::ArrayView<float, 2>& wave) {
    if (wave.data == nullptr) return;
    add(name, shape_of(ElementType::kF32, {wave.shape[0], wave.shape[1]}), wave.data);
  }

  std::vector<std::byte> finish() && { return std::move(zip_).finish(); }

 private:
  ZipStore zip_;
};

void add_ids(const feed::Batch& batch, BatchFile& file) {
  std::vector<std::string_view> ids;
  for (std::size_t row = 0; row < batch.num_rows(); ++row) ids.push_back(batch.id(row));
  file.add("ids", cache::encode_npy_texts(ids));
}

void add_tokens(const feed::ArrayView<std::int32_t, 2>& tokens, BatchFile& file) {
  file.add("tokens", shape_of(ElementType::kI32, {tokens.shape[0], tokens.shape[1]}), tokens.data);
}

void add_named_arrays(const feed::Batch& batch, const feed::Batch::HostCopy& copy,
                      const feed::BatchFormat& format, BatchFile& file) {
  for (const feed::ArrayKind& kind : format.arrays) {
    const feed::NamedArray array = copy.here(batch.array(kind.name));
    file.add("array." + kind.name,
             shape_of(array.element, {array.shape[0], array.shape[1], array.shape[2]}), array.data);
    file.add("array_len." + kind.name, array.lengths);
  }
}

}  // namespace

void add_batch_array(ZipStore& file, std::string_view name, std::span<const std::byte> npy) {
  if (file.add(fmt::format("{}.npy", name), npy)) return;
  raise({.code = &kSaveSize,
         .promised = "a batch of less than " + grouped(ZipStore::kMaxBytes) + " bytes",
         .found = fmt::format("more, at the array {} of {} bytes", name, grouped(npy.size()))});
}

std::string batch_file_name(const feed::Batch& batch) {
  return fmt::format("epoch-{:05}-batch-{:06}.npz", batch.epoch(), batch.index());
}

std::vector<std::byte> encode_batch_file(const feed::Batch& batch,
                                         const feed::BatchFormat& format) {
  const feed::Batch::HostCopy copy = batch.load_from_device();
  BatchFile file;
  file.add("epoch", batch.epoch());
  file.add("index", batch.index());
  add_ids(batch, file);
  file.add("mel", copy.here(batch.mel()));
  add_tokens(copy.here(batch.tokens()), file);
  file.add("text_len", batch.text_len());
  file.add("mel_len", batch.mel_len());
  file.add("speaker", batch.speaker());
  file.add("language", batch.language());
  if (format.layout == feed::BatchLayout::kPacked) {
    file.add("frame_begins", batch.frame_begins());
    file.add("token_begins", batch.token_begins());
  }
  if (format.with_audio) {
    file.add("audio", copy.here(batch.audio()));
    file.add("audio_len", batch.audio_len());
  }
  if (format.reference_frames > 0) {
    file.add("reference_mel", copy.here(batch.reference_mel()));
    file.add("reference_len", batch.reference_len());
  }
  file.add("wav_segment", copy.here(batch.wav_segment()));
  file.add("mel_segment", copy.here(batch.mel_segment()));
  add_named_arrays(batch, copy, format, file);
  return std::move(file).finish();
}

}  // namespace stoker::cli
