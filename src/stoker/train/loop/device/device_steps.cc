#include "stoker/train/loop/device/device_steps.h"

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <utility>

#include "stoker/train/loop/torch_place.h"
#include "stoker/train/model/layers.h"

namespace stoker::train {
namespace {

constexpr std::size_t kFiguresAhead = 64;

at::Tensor device_bytes(std::size_t size_bytes, at::Device device) {
  return at::zeros({static_cast<std::int64_t>(size_bytes)}, at::device(device).dtype(at::kByte));
}

FlatRule flat_rule(const UpdateRule& rule, double learning_rate) {
  return {.is_decoupled = rule.is_decoupled,
          .learning_rate = learning_rate,
          .beta1 = rule.beta1,
          .beta2 = rule.beta2,
          .epsilon = rule.epsilon,
          .weight_decay = rule.weight_decay,
          .clip_norm = rule.clip_norm,
          .ema_decay = rule.ema_decay};
}

void wait_for(const at::Device& device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  guard.synchronizeStream(guard.getStream(device));
}

}  // namespace

DeviceSteps::DeviceSteps(const LearnerOptions& options, const TensorRules& rules,
                         const TtsModel& model, FlatUpdate& update, const ScaleTensors& scale)
    : options_(options),
      rules_(rules),
      model_(model),
      update_(update),
      scale_(scale),
      ledger_(device_bytes(sizeof(StepLedger), rules.device)),
      scratch_(device_bytes(update_scratch_bytes(), rules.device)),
      inputs_(rules, ledger()),
      ring_(rules.device.index(), kFiguresAhead) {
  if (options.uses_graphs) graphs_.emplace(rules.device.index(), stream());
}

StepLedger* DeviceSteps::ledger() const {
  return static_cast<StepLedger*>(ledger_.mutable_data_ptr());
}

cuda::StreamView DeviceSteps::stream() const { return current_stream(rules_.device); }

void DeviceSteps::compute(const PackedBatch& inputs, std::uint64_t batch_number) {
  const Losses losses =
      model_.loss(inputs, {options_.seed, batch_number, &ledger()->step}, ModelMode::kTrain);
  at::Tensor weighted = losses.total() * losses.num_frames;
  if (scale_.scale.defined()) weighted = weighted * scale_.scale;
  weighted.backward();
  add_figures({{losses.duration.const_data_ptr<float>(), losses.prior.const_data_ptr<float>(),
                losses.flow.const_data_ptr<float>(), losses.alignment.const_data_ptr<float>(),
                losses.num_frames.const_data_ptr<float>()}},
              ledger(), stream());
}

StepWork DeviceSteps::work_of(const StepShape& shape, std::uint64_t batch_number) {
  const PackedBatch& inputs = inputs_.of(shape);
  return {.compute = [this, &inputs, batch_number] { compute(inputs, batch_number); },
          .save = [this] { save(); },
          .undo = [this] { undo(); }};
}

void DeviceSteps::save() {
  saved_ledger_ = ledger_.clone();
  if (num_added_ > 0) saved_gradients_ = update_.flat_gradients().clone();
}

void DeviceSteps::undo() {
  ledger_.copy_(saved_ledger_);
  if (saved_gradients_.defined()) {
    update_.flat_gradients().copy_(saved_gradients_);
  } else {
    update_.zero_gradients();
  }
  saved_ledger_ = saved_gradients_ = at::Tensor();
}

void DeviceSteps::prepare(std::span<const StepShape> shapes) {
  if (!graphs_) return;
  std::vector<StepShape> sorted(shapes.begin(), shapes.end());
  std::sort(sorted.begin(), sorted.end(), [](const StepShape& a, const StepShape& b) {
    return a.num_frames != b.num_frames ? a.num_frames > b.num_frames : a > b;
  });
  for (const StepShape& shape : sorted) inputs_.of(shape);
  for (const StepShape& shape : sorted) {
    if (graphs_->has(shape)) continue;
    inputs_.make_up(shape);
    graphs_->capture(shape, work_of(shape, 0));
  }
  c10::getDeviceAllocator(rules_.device.type())->emptyCache();
}

void DeviceSteps::forget_prepared() {
  wait_for(rules_.device);
  if (graphs_) graphs_.emplace(rules_.device.index(), stream());
  inputs_.clear();
  c10::getDeviceAllocator(rules_.device.type())->emptyCache();
}

std::uint64_t DeviceSteps::held_bytes() const {
  const auto stats =
      c10::getDeviceAllocator(rules_.device.type())->getDeviceStats(rules_.device.index());
  return static_cast<std::uint64_t>(stats.reserved_bytes[0].current);
}

void DeviceSteps::bound_bytes(std::uint64_t max_bytes) const {
  const auto device = rules_.device.index();
  bound_torch_memory(device, share_of_device(device, max_bytes));
}

void DeviceSteps::try_once(const StepShape& shape) {
  inputs_.make_up(shape);
  save();
  try {
    compute(inputs_.of(shape), 0);
    wait_for(rules_.device);
  } catch (...) {
    undo();
    throw;
  }
  undo();
}

ReservedBytes DeviceSteps::probe(const std::function<void()>& work) {
  c10::DeviceAllocator& allocator = *c10::getDeviceAllocator(rules_.device.type());
  const auto reserved = [&] {
    return allocator.getDeviceStats(rules_.device.index()).reserved_bytes[0];
  };
  allocator.emptyCache();
  allocator.resetPeakStats(rules_.device.index());
  const auto before = static_cast<std::uint64_t>(reserved().current);
  // Inputs that only a probe needed go back with the rest.
  const auto clean_up = [&] {
    if (!graphs_ || graphs_->figures().num_captured == 0) inputs_.clear();
    allocator.emptyCache();
  };
  try {
    work();
    wait_for(rules_.device);
  } catch (...) {
    clean_up();
    throw;
  }
  const auto most = static_cast<std::uint64_t>(reserved().peak);
  clean_up();
  return {.before = before, .most = most};
}

std::uint64_t DeviceSteps::probe_bytes(const StepShape& shape) {
  return probe([&] { try_once(shape); }).most;
}

void DeviceSteps::add_batch(feed::Batch batch, std::uint64_t batch_number) {
  const StepShape shape = step_shape_of(batch.shape(), batch.format(), rules_.max_reference_frames);
  if (batch.device().is_cuda()) batch.wait(stream());
  inputs_.take(std::move(batch), shape, batch_number);
  const StepWork work = work_of(shape, batch_number);
  if (!graphs_) {
    work.compute();
  } else {
    if (!graphs_->has(shape)) {
      graphs_->capture(shape, work);
      begin_span(ledger(), stream());  // what was spent on capturing is no time of the step
    }
    graphs_->run(shape, work);
  }
  ++num_added_;
}

void DeviceSteps::update(double learning_rate, std::uint64_t update) {
  FlatUpdateJob job{.flat = update_.buffers(),
                    .rule = flat_rule(options_.rule, learning_rate),
                    .ledger = ledger(),
                    .scratch = scratch_.mutable_data_ptr()};
  if (scale_.scale.defined()) {
    job.scale = {.scale = scale_.scale.data_ptr<float>(),
                 .age = scale_.num_grown.data_ptr<std::int32_t>(),
                 .growth_interval = kGrowthInterval};
  }
  update_flat(job, ring_.next(), stream());
  ring_.submit(update, stream());
  num_added_ = 0;
}

void DeviceSteps::start_anew() {
  ring_.forget();
  ledger_.zero_();
  num_added_ = 0;
}

}  // namespace stoker::train
