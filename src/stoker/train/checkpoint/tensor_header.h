// The JSON at the head of a safetensors file, checked against the bytes that follow it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/train/checkpoint/tensor_file.h"

namespace stoker::train {

inline constexpr std::uint64_t kLengthBytes = 8;  // of the number before the JSON

// By type and shape. Precondition: it fits 64 bits, as every parsed or stored tensor does.
std::uint64_t payload_bytes(const StoredTensor& tensor);

// Length and JSON, filled up with spaces to a multiple of eight bytes.
std::string tensor_header(const TensorSet& set);

// The tensors without their values, which fill the `data_bytes` after the JSON in this order.
Result<TensorSet> parse_tensor_header(std::string_view json, std::uint64_t data_bytes,
                                      const std::string& file);

}  // namespace stoker::train
