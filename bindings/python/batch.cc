// A batch in Python: a mapping of tensors over the feed's memory, which is given back when the last
// of them is gone.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <functional>

#include "held_batch.h"
#include "stoker/base/error.h"
#include "stoker/feed/errors.h"

namespace stoker::python {
namespace {

using feed::DlArray;

const feed::Batch& batch_of(const PythonBatch& self) {
  if (self.held == nullptr)
    raise({.code = &feed::kBatchReleased, .found = "the batch was released"});
  return self.held->batch();
}

Tensor tensor_of(const PythonBatch& self, const DlArray& array, const void* host) {
  return {.array = array, .host = host, .memory = self.held};
}

DlArray host_array(const void* data, feed::DlDataType type, std::vector<std::size_t> shape) {
  DlArray array{.data = data, .device = feed::dl_device(Device::cpu()), .type = type};
  for (const std::size_t axis : shape)
    array.shape[static_cast<std::size_t>(array.num_axes++)] = static_cast<std::int64_t>(axis);
  return array;
}

Tensor host_tensor(const PythonBatch& self, const void* data, feed::DlDataType type,
                   const std::vector<std::size_t>& shape) {
  return tensor_of(self, host_array(data, type, shape), data);
}

template <class T>
std::optional<Tensor> lengths(const PythonBatch& self, std::span<const T> values) {
  if (values.empty()) return std::nullopt;
  return copy_tensor(
      host_tensor(self, values.data(), std::is_signed_v<T> ? feed::kDlInt32 : feed::kDlUint32,
                  {values.size()}),
      CopyTo::kHost);
}

bool is_length(feed::BatchPart part) {
  using enum feed::BatchPart;
  return part != kMel && part != kTokens && part != kAudio && part != kReferenceMel &&
         part != kWavSegment && part != kMelSegment;
}

// An array on the batch's device, with its host twin where the feed keeps one. Lengths in host
// memory are copied, as the feed itself goes by them.
Tensor device_tensor(const PythonBatch& self, const DlArray& array, bool is_copied,
                     const void* host) {
  const bool is_on_cpu = batch_of(self).device().is_cpu();
  const Tensor tensor = tensor_of(self, array, is_on_cpu ? array.data : host);
  return is_copied && is_on_cpu ? copy_tensor(tensor, CopyTo::kHost) : tensor;
}

Tensor device_part(const PythonBatch& self, feed::BatchPart part, const void* host) {
  return device_tensor(self, feed::batch_array(batch_of(self), part), is_length(part), host);
}

// None where the batch has no such part.
std::optional<Tensor> optional_part(const PythonBatch& self, feed::BatchPart part,
                                    const void* host = nullptr) {
  if (feed::batch_array(batch_of(self), part).data == nullptr) return std::nullopt;
  return device_part(self, part, host);
}

using MakePart = std::optional<Tensor> (*)(const PythonBatch&, const feed::Batch&);
struct Part {
  const char* name;
  const char* sentence;
  MakePart make;
};

using P = const PythonBatch&;
using B = const feed::Batch&;
constexpr std::size_t kNumAlwaysThere = 6;  // the first of them
constexpr std::array kParts{
    Part{"mel", "Log-mel frames [rows, frames, bands].",
         [](P p, B) { return std::optional(device_part(p, feed::BatchPart::kMel, nullptr)); }},
    Part{"tokens", "Text tokens [rows, tokens], 0 behind each row's length.",
         [](P p, B) { return std::optional(device_part(p, feed::BatchPart::kTokens, nullptr)); }},
    Part{"text_len", "Tokens of each row.",
         [](P p, B b) {
           return std::optional(device_part(p, feed::BatchPart::kTextLen, b.text_len().data()));
         }},
    Part{"mel_len", "Frames of each row.",
         [](P p, B b) {
           return std::optional(device_part(p, feed::BatchPart::kMelLen, b.mel_len().data()));
         }},
    Part{"speaker", "Speaker number of each row.",
         [](P p, B b) {
           return std::optional(device_part(p, feed::BatchPart::kSpeaker, b.speaker().data()));
         }},
    Part{"language", "Language number of each row.",
         [](P p, B b) {
           return std::optional(device_part(p, feed::BatchPart::kLanguage, b.language().data()));
         }},
    Part{"frame_begins", "Where each row begins in mel, counted over the whole batch.",
         [](P p, B b) { return lengths(p, b.frame_begins()); }},
    Part{"token_begins", "Where each row begins in tokens, counted over the whole batch.",
         [](P p, B b) { return lengths(p, b.token_begins()); }},
    Part{"audio", "Samples [rows, samples]; None unless data.with_audio is set.",
         [](P p, B) { return optional_part(p, feed::BatchPart::kAudio); }},
    Part{"audio_len", "Samples of each row.",
         [](P p, B b) {
           return optional_part(p, feed::BatchPart::kAudioLen, b.audio_len().data());
         }},
    Part{"reference_mel", "A crop of the voice [rows, frames, bands]; None unless asked for.",
         [](P p, B) { return optional_part(p, feed::BatchPart::kReferenceMel); }},
    Part{"reference_len", "Frames of each crop.",
         [](P p, B b) {
           return optional_part(p, feed::BatchPart::kReferenceLen, b.reference_len().data());
         }},
    Part{"wav_segment", "Samples of a random segment of each row; None unless asked for.",
         [](P p, B) { return optional_part(p, feed::BatchPart::kWavSegment); }},
    Part{"mel_segment", "Frames of the same segment; None unless asked for.",
         [](P p, B) { return optional_part(p, feed::BatchPart::kMelSegment); }},
};

nb::object ids_of(PythonBatch& self) {
  if (self.ids.is_valid()) return self.ids;
  const feed::Batch& batch = batch_of(self);
  nb::list ids;
  for (std::size_t row = 0; row < batch.num_rows(); ++row) {
    const std::string_view id = batch.id(row);
    ids.append(nb::str(id.data(), id.size()));
  }
  self.ids = nb::tuple(ids);
  return self.ids;
}

nb::dict arrays_of(const PythonBatch& self) {
  const feed::Batch& batch = batch_of(self);
  nb::dict all;
  for (const feed::ArrayKind& kind : batch.format().arrays) {
    const feed::DlNamedArray array = feed::named_array(batch, kind.name);
    const void* const lengths_here = batch.array(kind.name).lengths.data();
    all[kind.name.c_str()] = device_tensor(self, array.values, false, nullptr);
    all[(kind.name + "_len").c_str()] = device_tensor(self, array.lengths, true, lengths_here);
  }
  return all;
}

// Everything that the batch has, by name: what dict(batch) and a loop over it give.
nb::dict parts_of(PythonBatch& self) {
  const feed::Batch& batch = batch_of(self);
  nb::dict all;
  for (const Part& part : kParts)
    if (const auto tensor = part.make(self, batch)) all[part.name] = *tensor;
  all["ids"] = ids_of(self);
  const nb::dict arrays = arrays_of(self);
  if (arrays.size() > 0) all["arrays"] = arrays;
  return all;
}

// Not valid where the batch has no part of that name.
nb::object find_part(PythonBatch& self, const std::string& name) {
  const feed::Batch& batch = batch_of(self);
  for (const Part& part : kParts) {
    if (name != part.name) continue;
    if (const auto tensor = part.make(self, batch)) return nb::cast(*tensor);
    return {};
  }
  if (name == "ids") return ids_of(self);
  if (name == "arrays" && !batch.format().arrays.empty()) return arrays_of(self);
  return {};
}

nb::object part_of(PythonBatch& self, const std::string& name) {
  nb::object part = find_part(self, name);
  if (!part.is_valid()) throw nb::key_error(name.c_str());
  return part;
}

// The part of the package that is written in Python.
nb::object package(const char* function) {
  return nb::module_::import_("stoker.batch").attr(function);
}

// What makes it a mapping.
void bind_mapping(nb::class_<PythonBatch>& bound) {
  bound.def("__getitem__", &part_of, nb::sig("def __getitem__(self, name: str) -> typing.Any"))
      .def(
          "get",
          [](PythonBatch& self, const std::string& name, const nb::object& otherwise) {
            nb::object part = find_part(self, name);
            return part.is_valid() ? part : otherwise;
          },
          nb::arg("name"), nb::arg("default") = nb::none(),
          nb::sig("def get(self, name: str, default: typing.Any = None) -> typing.Any"))
      .def("__contains__", [](PythonBatch& self,
                              const std::string& name) { return find_part(self, name).is_valid(); })
      .def("__len__", [](PythonBatch& self) { return parts_of(self).size(); })
      .def(
          "__iter__", [](PythonBatch& self) { return nb::iter(parts_of(self)); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[str]"))
      .def(
          "keys", [](PythonBatch& self) { return parts_of(self).keys(); },
          nb::sig("def keys(self) -> list[str]"), "The names of what the batch has.")
      .def(
          "values", [](PythonBatch& self) { return parts_of(self).values(); },
          nb::sig("def values(self) -> list[typing.Any]"), "What the batch has.")
      .def(
          "items", [](PythonBatch& self) { return parts_of(self).items(); },
          nb::sig("def items(self) -> list[tuple[str, typing.Any]]"), "Names and parts.");
}

// What the package does with it, stoker/batch.py.
void bind_package_methods(nb::class_<PythonBatch>& bound) {
  bound
      .def(
          "to_torch",
          [](nb::handle self, const nb::args& names, bool copy) {
            return package("to_torch")(self, *names, nb::arg("copy") = copy);
          },
          nb::arg("names"), nb::arg("copy") = false,
          nb::sig("def to_torch(self, *names: str, copy: bool = False) -> dict[str, typing.Any]"),
          "The parts named, or all, as torch tensors on the batch's device, without a copy unless "
          "asked for.")
      .def(
          "copy", [](nb::handle self) { return package("copy")(self); },
          nb::sig("def copy(self) -> stoker.batch.BatchCopy"),
          "The same parts in memory of their own, on the same device.")
      .def(
          "pin", [](nb::handle self) { return package("pin")(self); },
          nb::sig("def pin(self) -> stoker.batch.BatchCopy"),
          "The same parts in page-locked host memory, from where copies to a GPU run beside work.")
      .def(
          "pin_memory", [](nb::handle self) { return package("pin")(self); },
          nb::sig("def pin_memory(self) -> stoker.batch.BatchCopy"), "As pin().")
      .def(
          "__repr__", [](nb::handle self) { return package("describe")(self); },
          nb::sig("def __repr__(self) -> str"))
      .def_prop_ro(
          "segments", [](nb::handle self) { return package("segments")(self); },
          nb::sig("def segments(self) -> stoker.batch.Segments | None"),
          "Aligned random segments (wav, mel) of each row; None unless asked for.");
}

// The streams that torch or the caller names are waited for before the memory is used again.
void release(PythonBatch& self, const nb::object& stream) {
  if (self.held == nullptr) return;
  if (!stream.is_none()) {
    if (const auto reader = cuda_stream_of(stream)) self.held->add_reader(*reader);
  }
  self.held.reset();
}

template <class Bound>
void bind_parts(Bound& bound) {
  for (const Part& part : kParts) {
    const MakePart make = part.make;
    const bool is_always_there = &part < kParts.data() + kNumAlwaysThere;
    const std::string signature =
        std::string("def ") + part.name + "(self) -> Tensor" + (is_always_there ? "" : " | None");
    bound.def_prop_ro(
        part.name, [make](const PythonBatch& self) { return make(self, batch_of(self)); },
        nb::sig(signature.c_str()), part.sentence);
  }
}

}  // namespace

void bind_batch(nb::module_& module) {
  nb::class_<PythonBatch> bound(
      module, "Batch", nb::is_weak_referenceable(),
      "One batch, leased from the feed until it is released or collected and no tensor of it is "
      "left.");
  bind_parts(bound);
  bind_mapping(bound);
  bind_package_methods(bound);
  bound
      .def_prop_ro("ids", &ids_of, nb::sig("def ids(self) -> tuple[str, ...]"),
                   "The utterances' names; empty for rows that fill up.")
      .def_prop_ro("arrays", &arrays_of, nb::sig("def arrays(self) -> dict[str, Tensor]"),
                   "The arrays asked for by name, each with NAME_len.")
      .def_prop_ro(
          "epoch", [](const PythonBatch& self) { return batch_of(self).epoch(); }, "Its epoch.")
      .def_prop_ro(
          "index", [](const PythonBatch& self) { return batch_of(self).index(); },
          "Its place in the epoch.")
      .def_prop_ro(
          "num_rows", [](const PythonBatch& self) { return batch_of(self).num_rows(); },
          "Rows, those that fill up included.")
      .def_prop_ro(
          "is_last", [](const PythonBatch& self) { return batch_of(self).is_last_of_epoch(); },
          "Whether the epoch ends with it.")
      .def_prop_ro(
          "device", [](const PythonBatch& self) { return batch_of(self).device().text(); },
          "Where its tensors are; frame_begins and token_begins are in host memory.")
      .def_prop_ro(
          "is_released", [](const PythonBatch& self) { return self.held == nullptr; },
          "Whether release() was called.")
      .def(
          "content_digest",
          [](const PythonBatch& self) {
            const feed::Batch& batch = batch_of(self);
            // Another thread may release the batch meanwhile.
            const std::shared_ptr<HeldBatch> held = self.held;
            return without_gil([&] { return batch.content_digest().hex(); });
          },
          "A digest of everything delivered, the same in every language and for any number of "
          "workers.")
      .def("release", &release, nb::arg("stream") = nb::none(),
           nb::sig("def release(self, stream: typing.Any = None) -> None"),
           "Gives the batch back; tensors taken from it before keep its memory. `stream` (a "
           "cudaStream_t or torch.cuda.Stream) is one more whose work so far is waited for.")
      .def(
          "record_stream",
          [](const PythonBatch& self, const nb::object& stream) {
            batch_of(self);
            if (const auto reader = cuda_stream_of(stream)) self.held->add_reader(*reader);
          },
          nb::arg("stream"), nb::sig("def record_stream(self, stream: typing.Any) -> None"),
          "Says that work on this stream (a cudaStream_t or torch.cuda.Stream) reads the batch; "
          "its "
          "memory is used again only after that.");
  module.def(
      "copy_tensor",
      [](const Tensor& tensor, const std::string& where) {
        return without_gil([&] {
          return copy_tensor(tensor, where == "pinned" ? CopyTo::kPinned
                                     : where == "host" ? CopyTo::kHost
                                                       : CopyTo::kSamePlace);
        });
      },
      nb::arg("tensor"), nb::arg("where"));
}

}  // namespace stoker::python
