// Collects inputs, outputs and gradients of parts of the model for a file in the safetensors format
// that Python compares with.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "stoker/train/model/layers.h"
#include "tests/train/model/model_batches.h"

namespace stoker::train {

class CaseFile {
 public:
  void add(const std::string& name, const at::Tensor& tensor) {
    tensors_.emplace_back(name, tensor.detach().contiguous().clone());
  }

  void write(const std::string& path) const {
    std::string header = "{";
    std::int64_t at_byte = 0;
    for (const auto& [name, tensor] : tensors_) {
      const std::int64_t end = at_byte + static_cast<std::int64_t>(tensor.nbytes());
      header += (header.size() > 1 ? ",\"" : "\"") + name + "\":{\"dtype\":\"" + type_of(tensor) +
                "\",\"shape\":[" + joined(tensor.sizes()) + "],\"data_offsets\":[" +
                std::to_string(at_byte) + "," + std::to_string(end) + "]}";
      at_byte = end;
    }
    header += "}";
    std::ofstream file(path, std::ios::binary);
    const std::uint64_t size = header.size();
    file.write(reinterpret_cast<const char*>(&size), sizeof(size));
    file << header;
    for (const auto& [name, tensor] : tensors_)
      file.write(static_cast<const char*>(tensor.const_data_ptr()),
                 static_cast<std::streamsize>(tensor.nbytes()));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
  }

 private:
  static std::string type_of(const at::Tensor& tensor) {
    if (tensor.scalar_type() == at::kFloat) return "F32";
    if (tensor.scalar_type() == at::kLong) return "I64";
    if (tensor.scalar_type() == at::kBool) return "BOOL";
    throw std::runtime_error("a tensor of the type " + std::string(tensor.dtype().name()));
  }
  static std::string joined(at::IntArrayRef sizes) {
    std::string text;
    for (const std::int64_t size : sizes) text += (text.empty() ? "" : ",") + std::to_string(size);
    return text;
  }

  std::vector<std::pair<std::string, at::Tensor>> tensors_;
};

// One part of the model: "CASE/in/NAME", "CASE/parameter/NAME", "CASE/out/NAME", "CASE/weight/NAME"
// and "CASE/gradient/NAME". What is differentiated is the sum of outputs times weights.
class ParityCase {
 public:
  ParityCase(CaseFile& file, std::string name) : file_(file), name_(std::move(name)) {}

  // A tensor that no gradient is asked for.
  at::Tensor given(const std::string& name, const at::Tensor& tensor) {
    file_.add(name_ + "/in/" + name, tensor);
    return tensor;
  }
  at::Tensor input(const std::string& name, const at::Tensor& tensor) {
    at::Tensor leaf = given(name, tensor).detach().clone().requires_grad_(true);
    leaves_.push_back({name, leaf});
    return leaf;
  }
  // The zeros that training starts from are filled, or they would hide gradients.
  void parameters(const std::vector<NamedTensor>& parameters) {
    const at::NoGradGuard no_gradient;
    std::uint32_t site = 900;
    for (const NamedTensor& parameter : parameters) {
      parameter.tensor.add_(random_values(parameter.tensor.sizes(), site++), 0.05);
      parameter.tensor.mutable_grad().reset();
      file_.add(name_ + "/parameter/" + parameter.name, parameter.tensor);
      leaves_.push_back(parameter);
    }
  }
  void outputs(const std::vector<NamedTensor>& outputs) {
    at::Tensor sum = at::zeros({});
    std::uint32_t site = 300;
    for (const NamedTensor& output : outputs) {
      const at::Tensor value = output.tensor.to(at::kFloat);
      const at::Tensor weight =
          random_values(value.dim() == 0 ? at::IntArrayRef{1} : value.sizes(), site++)
              .view(value.sizes());
      file_.add(name_ + "/out/" + output.name, value);
      file_.add(name_ + "/weight/" + output.name, weight);
      sum = sum + (value * weight).sum();
    }
    sum.backward();
    for (const NamedTensor& leaf : leaves_) {
      const at::Tensor gradient = leaf.tensor.grad();
      file_.add(name_ + "/gradient/" + leaf.name,
                gradient.defined() ? gradient : at::zeros_like(leaf.tensor));
      leaf.tensor.mutable_grad().reset();
    }
  }

 private:
  CaseFile& file_;
  std::string name_;
  std::vector<NamedTensor> leaves_;
};

}  // namespace stoker::train
