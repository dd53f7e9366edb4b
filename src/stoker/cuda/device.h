// Where batches live: the host or one GPU, and how a user writes it.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/result.h"

namespace stoker::cuda {

// A value; says nothing about whether the GPU exists.
class Device {
 public:
  static constexpr Device cpu() { return Device(-1); }
  static constexpr Device cuda(int index) { return Device(index); }

  constexpr bool is_cpu() const { return index_ < 0; }
  constexpr bool is_cuda() const { return index_ >= 0; }
  constexpr int index() const { return index_; }  // of the GPU; -1 for the host
  std::string text() const;                       // "cpu", "cuda:0"

  constexpr auto operator<=>(const Device&) const = default;

 private:
  constexpr explicit Device(int index) : index_(index) {}
  int index_;
};

// "cpu", "cuda" (the first GPU), "cuda:N"; nothing for "auto". E-CUDA-NAME for anything else.
Result<std::optional<Device>> parse_device(std::string_view text);

}  // namespace stoker::cuda

namespace stoker {

using cuda::Device;

}  // namespace stoker
