#include "tensor.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cstring>
#include <vector>

#include "stoker/base/aligned_bytes.h"
#include "stoker/cuda/device_buffer.h"
#include "stoker/cuda/pinned_buffer.h"

namespace stoker::python {
namespace {

constexpr std::int32_t kCpu = 1;
constexpr std::uint8_t kBfloat = 4;
constexpr std::uint64_t kIsCopy = 2;

struct HostMemory final : Memory {
  std::vector<std::byte> bytes;
};
struct PinnedMemory final : Memory {
  cuda::PinnedBuffer buffer;
};
struct GpuMemory final : Memory {
  cuda::DeviceBuffer buffer;
};

void copy_from_gpu(const Tensor& from, void* to, cuda::CopyKind kind) {
  const int device = from.array.device.index;
  const cuda::Stream stream(device);
  from.memory->wait_briefly(stream);
  cuda::system_device_api().copy({to, from.array.data, from.array.size_bytes(), kind},
                                 stream.view().handle());
  stream.synchronize();
}

// To host memory at `to`, from the host twin where there is one.
void copy_to_host(const Tensor& from, std::byte* to) {
  if (from.host != nullptr) {
    std::memcpy(to, from.host, from.array.size_bytes());
  } else {
    copy_from_gpu(from, to, cuda::CopyKind::kToHost);
  }
}

Tensor on_host(const Tensor& from, std::byte* data, std::shared_ptr<Memory> memory) {
  copy_to_host(from, data);
  Tensor copy{.array = from.array, .host = data, .memory = std::move(memory)};
  copy.array.data = data;
  copy.array.device = {kCpu, 0};
  return copy;
}

template <class T>
T argument_of(const nb::object& given, const char* what) {
  T value{};
  if (!nb::try_cast(given, value)) throw nb::type_error(what);
  return value;
}

std::pair<std::uint32_t, std::uint32_t> version_of(const nb::object& max_version) {
  if (max_version.is_none()) return {0, 0};
  return argument_of<std::pair<std::uint32_t, std::uint32_t>>(
      max_version, "expected max_version as two whole numbers");
}

nb::object capsule_of(const Tensor& tensor, bool is_versioned, std::uint64_t flags) {
  const auto end = [](PyObject* self) {  // where nobody took it
    if (PyCapsule_IsValid(self, "dltensor_versioned")) {
      auto* const held = static_cast<feed::DlManagedTensorVersioned*>(
          PyCapsule_GetPointer(self, "dltensor_versioned"));
      held->deleter(held);
    } else if (PyCapsule_IsValid(self, "dltensor")) {
      auto* const held =
          static_cast<feed::DlManagedTensor*>(PyCapsule_GetPointer(self, "dltensor"));
      held->deleter(held);
    }
  };
  void* const managed =
      is_versioned ? static_cast<void*>(feed::export_versioned(tensor.array, tensor.memory, flags))
                   : static_cast<void*>(feed::export_dlpack(tensor.array, tensor.memory));
  return nb::steal(PyCapsule_New(managed, is_versioned ? "dltensor_versioned" : "dltensor", end));
}

[[noreturn]] void refuse_buffer(const char* why) {
  PyErr_SetString(PyExc_BufferError, why);
  throw nb::python_error();
}

// Whether the wish for a place can be met without a copy; refuses what cannot be met at all.
bool needs_host_copy(const Tensor& tensor, const nb::object& dl_device) {
  if (dl_device.is_none()) return false;
  const auto [type, index] =
      argument_of<std::pair<int, int>>(dl_device, "expected dl_device as two whole numbers");
  if (type == tensor.array.device.type && index == tensor.array.device.index) return false;
  if (type != kCpu) refuse_buffer("a batch is exported to its own device or to the CPU only");
  return true;
}

nb::object dlpack(const Tensor& self, const nb::object& stream, const nb::object& max_version,
                  const nb::object& dl_device, const std::optional<bool>& copy) {
  const bool to_host = needs_host_copy(self, dl_device);
  const bool is_versioned = version_of(max_version).first >= 1;
  if (to_host && copy == false) refuse_buffer("the batch is on the GPU: copy=False is impossible");
  if (to_host || copy == true) {
    const Tensor own = without_gil(
        [&] { return copy_tensor(self, to_host ? CopyTo::kHost : CopyTo::kSamePlace); });
    return capsule_of(own, is_versioned, kIsCopy);
  }
  if (!self.is_on_gpu() && !stream.is_none())
    throw nb::value_error("a batch in host memory takes stream=None");
  if (self.is_on_gpu()) {
    if (const auto reader = stream_of(stream)) self.memory->wait(*reader);
  }
  return capsule_of(self, is_versioned, 0);
}

nb::dict cuda_array_interface(const Tensor& self) {
  if (!self.is_on_gpu()) throw nb::attribute_error("this array is in host memory");
  // Version 3 of the protocol: whoever takes it waits on this stream, the legacy default one.
  constexpr std::intptr_t kLegacy = 1;
  if (self.array.type.code == kBfloat)
    throw nb::attribute_error("the protocol has no bfloat16; use DLPack or data.batch_dtype=f16");
  self.memory->wait(*stream_of(nb::none()));
  nb::dict out;
  nb::list shape;
  for (int axis = 0; axis < self.array.num_axes; ++axis) shape.append(self.array.shape[axis]);
  const char kind = self.array.type.code == 2 ? 'f' : self.array.type.code == 1 ? 'u' : 'i';
  out["shape"] = nb::tuple(shape);
  out["typestr"] = std::string("<") + kind + std::to_string(self.array.type.bits / 8);
  out["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(self.array.data), false);
  out["version"] = 3;
  out["strides"] = nb::none();
  out["stream"] = kLegacy;
  return out;
}

// NumPy has no bfloat16; every one of its values is a float32.
Tensor widened(const Tensor& from) {
  auto memory = std::make_shared<HostMemory>();
  const auto count = static_cast<std::size_t>(from.array.num_values());
  memory->bytes.resize(count * sizeof(float));
  const auto* const narrow = static_cast<const std::uint16_t*>(from.host);
  auto* const wide = reinterpret_cast<std::uint32_t*>(memory->bytes.data());
  for (std::size_t i = 0; i < count; ++i) wide[i] = std::uint32_t{narrow[i]} << 16U;
  Tensor out{.array = from.array, .host = wide, .memory = memory};
  out.array.data = wide;
  out.array.type = feed::kDlFloat32;
  return out;
}

nb::object numpy_view(const Tensor& tensor) {
  std::vector<std::size_t> shape(tensor.array.shape.begin(),
                                 tensor.array.shape.begin() + tensor.array.num_axes);
  auto* const keeper = new std::shared_ptr<Memory>(tensor.memory);
  const nb::capsule owner(
      keeper, [](void* held) noexcept { delete static_cast<std::shared_ptr<Memory>*>(held); });
  const feed::DlDataType& type = tensor.array.type;
  const nb::ndarray<nb::numpy> array(const_cast<void*>(tensor.host), shape.size(), shape.data(),
                                     owner, nullptr, nb::dlpack::dtype{type.code, type.bits, 1});
  return nb::cast(array);
}

nb::object to_numpy(const Tensor& self, const nb::object& dtype, const std::optional<bool>& copy) {
  const bool is_bfloat = self.array.type.code == kBfloat;
  const bool needs_copy = is_bfloat || self.is_on_gpu();
  if (needs_copy && copy == false)
    throw nb::value_error("NumPy cannot look at this array without a copy");
  Tensor here = self;
  if (self.is_on_gpu()) here = without_gil([&] { return copy_tensor(self, CopyTo::kHost); });
  if (is_bfloat) here = widened(here);
  nb::object array = numpy_view(here);
  if (!dtype.is_none()) {
    const nb::object same = array;
    array = same.attr("astype")(dtype, nb::arg("copy") = false);
    if (copy == false && !array.is(same))
      throw nb::value_error("NumPy cannot have another dtype without a copy");
  }
  if (copy == true && !needs_copy) array = array.attr("copy")();
  return array;
}

nb::tuple shape_of(const Tensor& self) {
  nb::list shape;
  for (int axis = 0; axis < self.array.num_axes; ++axis) shape.append(self.array.shape[axis]);
  return nb::tuple(shape);
}

std::string repr_of(const Tensor& self) {
  std::string text = "stoker.Tensor(shape=(";
  for (int axis = 0; axis < self.array.num_axes; ++axis)
    text += (axis == 0 ? "" : ", ") + std::to_string(self.array.shape[axis]);
  return text + "), dtype=" + self.dtype_text() + ", device=" + self.device_text() + ")";
}

}  // namespace

std::string Tensor::device_text() const {
  return is_on_gpu() ? "cuda:" + std::to_string(array.device.index) : "cpu";
}

std::string Tensor::dtype_text() const {
  const std::string bits = std::to_string(array.type.bits);
  if (array.type.code == kBfloat) return "bfloat16";
  return (array.type.code == 2 ? "float" : array.type.code == 1 ? "uint" : "int") + bits;
}

Tensor copy_tensor(const Tensor& tensor, CopyTo where) {
  const std::size_t size_bytes = tensor.array.size_bytes();
  if (where == CopyTo::kPinned) {
    auto memory = std::make_shared<PinnedMemory>();
    memory->buffer = cuda::PinnedBuffer(size_bytes);
    Tensor copy = on_host(tensor, memory->buffer.data(), memory);
    copy.is_pinned = true;
    return copy;
  }
  if (where == CopyTo::kHost || !tensor.is_on_gpu()) {
    auto memory = std::make_shared<HostMemory>();
    memory->bytes.resize(size_bytes);
    std::byte* const data = memory->bytes.data();
    return on_host(tensor, data, std::move(memory));
  }
  auto memory = std::make_shared<GpuMemory>();
  memory->buffer = cuda::DeviceBuffer(tensor.array.device.index, size_bytes);
  copy_from_gpu(tensor, memory->buffer.data(), cuda::CopyKind::kOnDevice);
  Tensor copy{.array = tensor.array, .memory = memory};
  copy.array.data = memory->buffer.data();
  return copy;
}

std::optional<cuda::StreamView> stream_of(const nb::object& stream) {
  constexpr std::intptr_t kLegacy = 1;
  constexpr std::intptr_t kPerThread = 2;
  if (nb::hasattr(stream, "cuda_stream")) {  // as torch has it, where 0 is the default stream
    const auto own = nb::cast<std::intptr_t>(stream.attr("cuda_stream"));
    return cuda::StreamView(reinterpret_cast<cuda::StreamHandle>(own == 0 ? kLegacy : own));
  }
  const auto number = stream.is_none() ? kLegacy
                                       : argument_of<std::intptr_t>(
                                             stream, "expected a cudaStream_t as a whole number");
  if (number == -1) return std::nullopt;
  if (number == 0) throw nb::value_error("stream 0 is ambiguous; 1 is the default stream");
  if (number == kPerThread)
    throw nb::value_error("the per-thread default stream cannot be followed from another thread");
  return cuda::StreamView(reinterpret_cast<cuda::StreamHandle>(number));
}

std::optional<cuda::StreamView> cuda_stream_of(const nb::object& stream) {
  const bool is_zero = nb::isinstance<nb::int_>(stream) && nb::cast<std::intptr_t>(stream) == 0;
  return stream_of(is_zero ? nb::object(nb::int_(1)) : stream);
}

void bind_tensor(nb::module_& module) {
  nb::class_<Tensor>(module, "Tensor",
                     "An array of a batch; keeps the batch's memory for as long as it lives.")
      .def_prop_ro("shape", &shape_of, nb::sig("def shape(self) -> tuple[int, ...]"),
                   "Length of each axis.")
      .def_prop_ro("dtype", &Tensor::dtype_text, "float16, bfloat16, float32, int32 …")
      .def_prop_ro("device", &Tensor::device_text, "cpu or cuda:N.")
      .def_prop_ro(
          "ndim", [](const Tensor& self) { return self.array.num_axes; }, "Number of axes.")
      .def_prop_ro(
          "size", [](const Tensor& self) { return self.array.num_values(); }, "Number of values.")
      .def_prop_ro(
          "nbytes", [](const Tensor& self) { return self.array.size_bytes(); }, "Size in bytes.")
      .def_prop_ro(
          "is_pinned", [](const Tensor& self) { return self.is_pinned; },
          "Whether it is a copy in page-locked host memory.")
      .def(
          "numpy", [](const Tensor& self) { return to_numpy(self, nb::none(), std::nullopt); },
          nb::sig("def numpy(self) -> numpy.typing.NDArray[typing.Any]"),
          "A NumPy array: a view of host memory, a copy of what is on a GPU; bfloat16 as float32.")
      .def(
          "tolist",
          [](const Tensor& self) {
            return to_numpy(self, nb::none(), std::nullopt).attr("tolist")();
          },
          nb::sig("def tolist(self) -> list[typing.Any]"), "The values as lists.")
      .def("__array__", &to_numpy, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) -> "
                   "typing.Any"))
      .def("__len__", [](const Tensor& self) { return self.array.shape[0]; })
      .def("__repr__", &repr_of)
      .def("__dlpack__", &dlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(),
           nb::arg("copy") = nb::none(),
           nb::sig("def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, "
                   "int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | "
                   "None = None) -> typing.Any"))
      .def("__dlpack_device__",
           [](const Tensor& self) {
             return std::pair(self.array.device.type, self.array.device.index);
           })
      .def_prop_ro("__cuda_array_interface__", &cuda_array_interface,
                   nb::sig("def __cuda_array_interface__(self) -> dict[str, typing.Any]"));
}

}  // namespace stoker::python
