// What the consumer holds: one batch of tensors, leased from the feed until it is destroyed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "stoker/base/digest/digest.h"
#include "stoker/config/mel_dtype.h"
#include "stoker/cuda/device.h"
#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/device/lease.h"
#include "stoker/feed/records/record_ticket.h"
#include "stoker/feed/source/utterance_source.h"
#include "stoker/pipeline/pipeline.h"

namespace stoker::feed {

// Raised whenever content_digest() of the same batch would change.
inline constexpr int kContentDigestVersion = 2;

// A borrowed array, row-major and without gaps; lives as long as the batch.
template <class T, std::size_t Rank>
struct ArrayView {
  const T* data = nullptr;
  std::array<std::size_t, Rank> shape{};

  std::size_t size() const {
    std::size_t product = 1;
    for (const std::size_t axis : shape) product *= axis;
    return product;
  }
  std::span<const T> values() const { return {data, size()}; }
};

// Mel frames [rows, frames, mels] in the batch's number format.
struct MelArray {
  const void* data = nullptr;
  config::MelDtype dtype = config::MelDtype::kF16;
  std::array<std::size_t, 3> shape{};

  std::size_t size_bytes() const {
    return shape[0] * shape[1] * shape[2] * config::bytes_per_value(dtype);
  }
};

// A named array [rows, max_length, …], zero behind each row's length.
struct NamedArray {
  const std::byte* data = nullptr;
  cache::ElementType element = cache::ElementType::kF32;
  std::array<std::size_t, 3> shape{};  // rows, longest, values of one step
  std::span<const std::int32_t> lengths;
  const std::int32_t* device_lengths = nullptr;  // the same on the device; null on the CPU
};

// Movable; destroying it gives the memory back to the feed. Reading from several threads is safe.
// Rows of length 0 are empty: fillers of a short batch (their id is empty too), or utterances whose
// file turned bad while running (they keep their id).
class Batch {
 public:
  Batch(pipeline::SlotLease lease, const BatchSlot& slot,
        std::shared_ptr<const UtteranceSource> store, std::shared_ptr<const BatchFormat> format,
        RecordTicket ticket);
  Batch(DeviceLease lease, std::shared_ptr<const UtteranceSource> store,
        std::shared_ptr<const BatchFormat> format, RecordTicket ticket);

  // The same batch for another reader, who may release it as often as this is called. This one must
  // stay until all of those reads are over, on the device too.
  Batch borrow() const;

  // Where mel(), tokens() and what is optional point; lengths and ids are always host memory.
  Device device() const;
  // Before a kernel on `stream` reads the batch; the host does not wait. No effect on the CPU.
  void wait(cuda::StreamView stream);
  // After the last such kernel: gives the batch back once `stream` has done what it has got so far.
  // Nothing of the batch may be used afterwards. Streams that waited for the batch are waited for
  // too, here and when the batch is destroyed: they must not end before it.
  void release(cuda::StreamView stream);
  // As wait(), for a stream whose reads are over before the batch is given back: it is not
  // remembered, so it may end before the batch.
  void wait_briefly(cuda::StreamView stream) const;
  // A stream that reads the batch and waits for it by itself.
  void add_reader(cuda::StreamView stream);
  // i32 [rows] on the device; null on the CPU, and where the batch has no such part.
  struct DeviceLengths {
    const std::int32_t* text_len = nullptr;
    const std::int32_t* mel_len = nullptr;
    const std::int32_t* speaker = nullptr;
    const std::int32_t* language = nullptr;
    const std::int32_t* audio_len = nullptr;
    const std::int32_t* reference_len = nullptr;
  };
  DeviceLengths device_lengths() const;

  std::uint64_t epoch() const { return slot_->epoch; }
  std::uint64_t index() const { return slot_->index; }
  bool is_last_of_epoch() const { return slot_->is_last; }
  const BatchCounts& counts() const { return slot_->counts; }
  // (B, T, L) on this rank, and over all ranks.
  const BatchShape& shape() const { return slot_->shape; }
  const BatchShape& global_shape() const { return slot_->global_shape; }

  const BatchFormat& format() const { return *format_; }

  // Utterances of this batch; equals shape().num_rows in the padded layout.
  std::size_t num_rows() const { return slot_->num_rows; }
  MelArray mel() const;
  ArrayView<std::int32_t, 2> tokens() const;  // [B, L], PAD is 0; on device()
  std::span<const std::int32_t> text_len() const { return view(slot_->text_len); }
  std::span<const std::int32_t> mel_len() const { return view(slot_->mel_len); }
  std::span<const std::int32_t> speaker() const { return view(slot_->speaker); }
  std::span<const std::int32_t> language() const { return view(slot_->language); }
  std::string_view id(std::size_t row) const { return id_of(slot_->utterances[row]); }

  // Where each utterance begins in mel() and tokens(), counted over the whole batch.
  std::span<const std::uint32_t> frame_begins() const { return view(slot_->frame_begins); }
  std::span<const std::uint32_t> token_begins() const { return view(slot_->token_begins); }

  // On device(). Empty unless asked for: audio [B, T * hop] with audio_len samples each; a
  // reference crop [B, R, mels]; aligned crops [B, S * hop] and [B, S, mels].
  ArrayView<float, 2> audio() const;
  std::span<const std::int32_t> audio_len() const {
    return view(slot_->audio_len).first(format_->with_audio ? slot_->num_rows : 0);
  }
  MelArray reference_mel() const;
  std::span<const std::int32_t> reference_len() const { return view(slot_->reference_len); }
  ArrayView<float, 2> wav_segment() const;
  MelArray mel_segment() const;

  // An array asked for by its name; empty when it was not.
  NamedArray array(std::string_view name) const;

  // Digests as docs/format/order.md defines them; the content's covers every part that is
  // delivered.
  Digest128 ids_digest() const;
  Digest128 global_ids_digest() const;  // the same on every rank
  Digest128 content_digest() const;

  // What the accessors of a batch on a device point to, copied to the host.
  class HostCopy {
   public:
    // The same array in host memory; one that was not copied stays as it is.
    template <class Array>
    Array here(Array array) const {
      for (const Part& part : parts_) {
        const auto at = reinterpret_cast<std::uintptr_t>(array.data) - part.from;
        if (at >= part.bytes.size()) continue;
        array.data = reinterpret_cast<decltype(array.data)>(part.bytes.data() + at);
        break;
      }
      return array;
    }

   private:
    friend class Batch;
    struct Part {
      std::uintptr_t from = 0;  // on the device
      std::vector<std::byte> bytes;
    };
    std::vector<Part> parts_;
  };
  // Waits for the device. Throws GpuError. A batch in host memory is not copied.
  HostCopy load_from_device() const;

 private:
  Batch(DeviceLease borrowed, const Batch& lender);

  template <class T>
  std::span<const T> view(const std::vector<T>& values) const {
    return std::span(values).first(values.empty() ? 0 : slot_->num_rows);
  }
  std::string_view id_of(std::uint32_t row) const {
    return row == kEmptyRow ? std::string_view() : store_->id(row);
  }

  // What is optional begins there; its parts are where slot_->extra_places says.
  const std::byte* extras() const {
    return device_lease_ ? device_lease_.slot().extras : slot_->extras.data();
  }
  // What is optional, of one row; `copy` has it where it is on a device.
  void digest_extras(std::size_t row, const HostCopy& copy, DigestStream& stream) const;

  pipeline::SlotLease lease_;
  DeviceLease device_lease_;
  const BatchSlot* slot_;
  std::shared_ptr<const UtteranceSource> store_;
  std::shared_ptr<const BatchFormat> format_;
  RecordTicket ticket_;
};

}  // namespace stoker::feed
