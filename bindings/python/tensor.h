// One array of a batch as Python sees it: shape, type, place, and the memory that it keeps.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "crossing.h"
#include "stoker/cuda/stream.h"
#include "stoker/feed/dlpack.h"

namespace stoker::python {

// What keeps an array's bytes where they are: a batch of the feed, or a copy. May end in any
// thread, without the GIL.
class Memory {
 public:
  virtual ~Memory() = default;
  // Before `stream` reads what is here; the memory is used again only after that stream.
  virtual void wait(cuda::StreamView) {}
  // The same for a stream that is done, and may end, before this object.
  virtual void wait_briefly(cuda::StreamView) const {}
  // The same for a stream that waits for the batch by itself.
  virtual void add_reader(cuda::StreamView) {}
};

struct Tensor {
  feed::DlArray array;
  const void* host = nullptr;  // the same bytes in host memory, where there are any
  std::shared_ptr<Memory> memory;
  bool is_pinned = false;

  bool is_on_gpu() const { return array.device.type == 2; }
  std::string device_text() const;
  std::string dtype_text() const;
};

enum class CopyTo { kSamePlace, kHost, kPinned };

// Waits for the GPU where the tensor, or its copy, is there. Throws GpuError, MemoryError.
Tensor copy_tensor(const Tensor& tensor, CopyTo where);

// As consumers write a stream: None or 1 is the default stream, a number above 2 a cudaStream_t,
// -1 none; or a torch.cuda.Stream. Raises TypeError, ValueError for what cannot be one.
std::optional<cuda::StreamView> stream_of(const nb::object& stream);
// As CUDA writes one: a number, where 0 is the default stream, or an object of torch.
std::optional<cuda::StreamView> cuda_stream_of(const nb::object& stream);

}  // namespace stoker::python
