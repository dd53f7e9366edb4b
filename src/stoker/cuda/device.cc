#include "stoker/cuda/device.h"

#include <charconv>

#include "stoker/cuda/errors.h"

namespace stoker::cuda {

std::string Device::text() const {
  return is_cpu() ? std::string("cpu") : "cuda:" + std::to_string(index_);
}

Result<std::optional<Device>> parse_device(std::string_view text) {
  if (text == "auto") return std::optional<Device>();
  if (text == "cpu") return std::optional(Device::cpu());
  if (text == "cuda") return std::optional(Device::cuda(0));
  constexpr std::string_view kPrefix = "cuda:";
  if (text.starts_with(kPrefix)) {
    const std::string_view digits = text.substr(kPrefix.size());
    int index = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
    if (is_whole && digits.front() != '-') return std::optional(Device::cuda(index));
  }
  return Error{.code = &kCudaName,
               .promised = "auto, cpu, cuda or cuda:N",
               .found = "\"" + std::string(text) + "\""};
}

}  // namespace stoker::cuda
