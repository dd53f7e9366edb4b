// The optimiser over flat buffers: all parameters, gradients, moments and averages are one tensor
// each, so that an update is a handful of kernels and never waits for the device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/train/checkpoint/tensor_file.h"
#include "stoker/train/loop/device/update_flat.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/model/tts_model.h"

namespace stoker::train {

// One thread at a time. While it lives the parameters' data and gradients are views of its buffers:
// backward() adds into them in place.
class FlatUpdate {
 public:
  // Takes the parameters' values over and moves them to `device`; with `shadow`, fp16 or bf16,
  // their shadows are views of a copy in that type, which buffers() lets kernels keep up to date.
  FlatUpdate(const std::vector<NamedTensor>& parameters, const UpdateRule& rule, at::Device device,
             std::optional<at::ScalarType> shadow = {});

  // What backward() was called on since the last apply(): f32 scalars on the device.
  struct Accumulated {
    at::Tensor weight;  // what the gradient is divided by; 0: nothing was added
    at::Tensor loss;    // not finite: the update is skipped
  };
  struct Outcome {
    at::Tensor gradient_norm;  // f32, after the division and before clipping
    at::Tensor is_skipped;     // f32, 1 where loss or gradient were not finite
  };
  // Divides, clips, updates, moves the average and zeroes the gradient. Nothing but the gradient
  // changes where the update is skipped or the weight is 0.
  Outcome apply(const Accumulated& accumulated, double learning_rate);

  void zero_gradients();

  std::uint64_t num_parameters() const { return num_parameters_; }
  const at::Tensor& flat_parameters() const { return parameters_; }
  const at::Tensor& flat_gradients() const { return gradients_; }
  // For update_flat(), which does what apply() does; of a GPU.
  FlatBuffers buffers() const;

  // While it lives the parameters have the values of the average. No graph may be built that is
  // gone back through later.
  class AverageScope {
   public:
    explicit AverageScope(const FlatUpdate& update) : update_(update) {
      update_.point_at(update_.average_);
    }
    ~AverageScope() { update_.point_at(update_.parameters_); }
    AverageScope(const AverageScope&) = delete;
    AverageScope& operator=(const AverageScope&) = delete;

   private:
    const FlatUpdate& update_;
  };

  // Copies in host memory, under the parameters' names; those of the optimiser are "m.<name>",
  // "v.<name>" and "step". Wait.
  TensorSet copy_parameters() const;
  TensorSet copy_average() const;
  TensorSet copy_optimizer() const;
  // E-CHECKPOINT-SHAPE where a name is absent, unknown or of another shape; then nothing was
  // changed. Without average it is a copy of the parameters, without optimiser that starts anew;
  // what else `optimizer` holds is not looked at.
  void restore(const LearnerState& state);

 private:
  struct Part {
    std::string name;
    std::vector<std::int64_t> shape;
    std::int64_t begin = 0;
    std::int64_t num_values = 0;
  };

  static at::Tensor view_of(const at::Tensor& flat, const Part& part);
  void point_at(const at::Tensor& flat) const;
  void call_fused(const at::Tensor& learning_rate, const at::Tensor& divisor,
                  const at::Tensor& is_held);
  void move_average(const at::Tensor& is_held);
  void append_parts(const at::Tensor& flat, const std::string& prefix, TensorSet& out) const;
  at::Tensor read_parts(const TensorSet& set, const std::string& prefix) const;
  void check_names(const TensorSet& set) const;

  UpdateRule rule_;
  std::vector<at::Tensor> model_;  // the parameters themselves
  std::vector<Part> parts_;
  std::uint64_t num_parameters_ = 0;
  at::Tensor parameters_, gradients_, moments1_, moments2_, average_;
  at::Tensor shadow_;       // not defined: none
  at::Tensor num_updates_;  // f32 scalar: what Adam corrects its bias by
};

// Between a tensor of any device and its bytes; the first waits.
StoredTensor store_tensor(const std::string& name, const at::Tensor& tensor);
// E-CHECKPOINT-SHAPE unless type and shape are those of `like`; in host memory.
at::Tensor read_tensor(const StoredTensor& stored, const at::Tensor& like);

}  // namespace stoker::train
