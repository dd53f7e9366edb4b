// The learner that uses libtorch: everything of a GPU runs on one stream of its own, and no error
// of libtorch's own type leaves this file.
#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/philox.h"
#include "stoker/train/loop/batch_tensors.h"
#include "stoker/train/loop/device/device_steps.h"
#include "stoker/train/loop/flat_update.h"
#include "stoker/train/loop/learner.h"
#include "stoker/train/loop/torch_place.h"
#include "stoker/train/model/layers.h"

namespace stoker::train {
namespace {

// Evaluation draws as if it came after every step of training: the pull to the diagonal, which the
// first steps are aligned with, is over.
constexpr std::uint64_t kAfterTraining = std::uint64_t{1} << 31U;
// Together with the frames of a batch, which weigh its loss, about the customary 65,536.
constexpr double kFirstLossScale = 4.0;
constexpr std::size_t kTextsAtOnce = 16;

std::optional<at::ScalarType> shadow_of(const LearnerOptions& options) {
  if (options.device.is_cpu()) return std::nullopt;
  if (options.precision == config::Precision::kBf16) return at::kBFloat16;
  if (options.precision == config::Precision::kFp16) return at::kHalf;
  return std::nullopt;
}

class TorchLearner final : public Learner {
  template <class Work>
  auto run(Work&& work) {
    return guarded([&] {
      const c10::OptionalStreamGuard on_stream(place_.stream);
      return work();
    });
  }

 public:
  // On the place's stream, which is current.
  TorchLearner(const LearnerOptions& options, const TorchPlace& place)
      : options_(options),
        place_(place),
        model_(options.shape, {.dropout = options.dropout, .seed = options.seed}),
        update_(model_.parameters(), options.rule, place.device, shadow_of(options)),
        rules_{.device = place.device,
               .scale = options.scale,
               .num_mels = options.shape.num_mels,
               .max_reference_frames = options.shape.reference_frames,
               .warps = options.warps},
        evaluation_seed_(KeyedDraws({options.seed, "train-evaluation"}).next_u64()),
        sums_(at::zeros({kNumSums}, at::kDouble)) {
    if (options.precision == config::Precision::kFp16) {
      scale_.scale = at::full({}, kFirstLossScale, at::device(place.device).dtype(at::kFloat));
      scale_.num_grown = at::zeros({}, at::device(place.device).dtype(at::kInt));
    }
    if (place.stream) steps_.emplace(options, rules_, model_, update_, scale_);
  }

  std::uint64_t num_parameters() const override { return update_.num_parameters(); }

  void prepare(std::span<const StepShape> shapes) override {
    if (steps_) run([&] { steps_->prepare(shapes); });
  }
  GraphFigures graph_figures() const override {
    return steps_ ? steps_->graph_figures() : GraphFigures{};
  }
  std::uint64_t probe_bytes(const StepShape& shape) override {
    return steps_ ? run([&] { return steps_->probe_bytes(shape); }) : 0;
  }

  void forget_prepared() override {
    if (steps_) run([&] { steps_->forget_prepared(); });
  }

  std::uint64_t held_bytes() const override { return steps_ ? steps_->held_bytes() : 0; }

  void bound_bytes(std::uint64_t max_bytes) override {
    if (steps_) run([&] { steps_->bound_bytes(max_bytes); });
  }

  std::uint64_t probe_evaluation_bytes(const StepShape& shape) override {
    if (!steps_) return 0;
    return run([&] {
      const ReservedBytes reserved = steps_->probe([&] {
        const at::NoGradGuard no_grad;
        const FlatUpdate::AverageScope average(update_);
        forward(made_up_tensors(shape, rules_), evaluation_key(0), ModelMode::kEvaluate);
      });
      return reserved.most - reserved.before;
    });
  }

  void add_batch(feed::Batch batch, std::uint64_t batch_number) override {
    run([&] {
      if (!has_rows(batch)) return;
      if (steps_) return steps_->add_batch(std::move(batch), batch_number);
      busy_.begin();
      const ModelBatch tensors = take_tensors(std::move(batch), rules_, batch_number);
      const Losses losses = forward(tensors, {options_.seed, batch_number}, ModelMode::kTrain);
      at::Tensor weighted = losses.total() * losses.num_frames;
      if (scale_.scale.defined()) weighted = weighted * scale_.scale;
      weighted.backward();
      add_sums(losses);
      busy_.end();
    });
  }

  void update(double learning_rate) override {
    run([&] {
      ++num_updates_;
      if (steps_) return steps_->update(learning_rate, num_updates_);
      update_here(learning_rate);
    });
  }

  std::vector<UpdateFigures> take_figures(Wait wait) override {
    return run([&] { return steps_ ? steps_->take_figures(wait) : std::exchange(figures_, {}); });
  }

  Evaluation evaluate(feed::Batch batch, std::uint64_t batch_number) override {
    return run([&]() -> Evaluation {
      if (!has_rows(batch)) return {};
      const at::NoGradGuard no_grad;
      const FlatUpdate::AverageScope average(update_);
      hold_back(batch);
      const Losses losses = forward(take_tensors(std::move(batch), rules_),
                                    evaluation_key(batch_number), ModelMode::kEvaluate);
      const at::Tensor host =
          at::stack({losses.duration, losses.prior, losses.flow, losses.num_frames})
              .to(at::kDouble)
              .to(at::kCPU);
      const double* const values = host.const_data_ptr<double>();
      return {{values[0], values[1], values[2]}, values[3]};
    });
  }

  std::vector<RowAlignment> align(feed::Batch batch) override {
    return run([&] {
      std::vector<RowAlignment> rows;
      if (!has_rows(batch)) return rows;
      const at::NoGradGuard no_grad;
      const FlatUpdate::AverageScope average(update_);
      const RowNames names = names_of(batch);
      hold_back(batch);
      const at::Tensor tokens =
          forward(take_tensors(std::move(batch), rules_), evaluation_key(0), ModelMode::kEvaluate)
              .token_of_frame.to(at::kCPU);
      for (std::size_t row = 0; row < names.ids.size(); ++row) {
        if (names.mel_len[row] == 0) continue;
        rows.push_back({names.ids[row],
                        index_row(tokens, static_cast<std::int64_t>(row), names.mel_len[row])});
      }
      return rows;
    });
  }

  PictureRow picture(feed::Batch batch) override {
    return run([&]() -> PictureRow {
      if (!has_rows(batch)) return {};
      const at::NoGradGuard no_grad;
      const FlatUpdate::AverageScope average(update_);
      const RowNames names = names_of(batch);
      std::size_t row = 0;
      while (names.mel_len[row] == 0) ++row;
      hold_back(batch);
      const ModelBatch one =
          take_row(take_tensors(std::move(batch), rules_), static_cast<std::int64_t>(row),
                   names.text_len[row], names.mel_len[row]);
      const Losses losses = forward(one, evaluation_key(0), ModelMode::kEvaluate);
      const std::int64_t num_frames = names.mel_len[row];
      return {.id = names.ids[row],
              .num_frames = num_frames,
              .mel = log_mel_row(one.mel, 0, num_frames, options_.scale),
              .predicted = log_mel_row(losses.predicted, 0, num_frames, options_.scale),
              .token_of_frame = index_row(losses.token_of_frame, 0, num_frames),
              .num_tokens = names.text_len[row] + 2};
    });
  }

  LearnerState state() override {
    return run([&] {
      LearnerState state{.model = update_.copy_parameters(),
                         .ema = update_.copy_average(),
                         .optimizer = update_.copy_optimizer()};
      std::vector<StoredTensor>& counts = state.optimizer.tensors;
      counts.push_back(store_tensor(
          "updates", at::scalar_tensor(static_cast<std::int64_t>(num_updates_), at::kLong)));
      if (scale_.scale.defined()) {
        counts.push_back(store_tensor("loss_scale", scale_.scale));
        counts.push_back(store_tensor("loss_scale_age", scale_.num_grown));
      }
      return state;
    });
  }

  void restore(const LearnerState& state) override {
    run([&] {
      const at::Tensor num_updates = read_count(state, "updates", at::zeros({}, at::kLong));
      at::Tensor scale, age;
      if (scale_.scale.defined()) {
        scale = read_count(state, "loss_scale", at::full({}, kFirstLossScale, at::kFloat));
        age = read_count(state, "loss_scale_age", at::zeros({}, at::kInt));
      }
      update_.restore(state);
      num_updates_ = static_cast<std::uint64_t>(num_updates.item<std::int64_t>());
      if (scale_.scale.defined()) {
        scale_.scale.copy_(scale);
        scale_.num_grown.copy_(age);
      }
      sums_.zero_();
      figures_.clear();
      busy_ = BusyTime();
      if (steps_) steps_->start_anew();
    });
  }

  std::vector<SpokenMel> speak(const SpeakRequest& request) override {
    return run([&] {
      check_request(request, options_.shape.num_tokens, options_.shape.num_mels);
      const at::NoGradGuard no_grad;
      const FlatUpdate::AverageScope average(update_);
      const AutocastScope autocast(place_.device.type(), options_.precision);
      std::vector<SpokenMel> spoken;
      for (std::size_t first = 0; first < request.tokens.size(); first += kTextsAtOnce) {
        const std::size_t count = std::min(kTextsAtOnce, request.tokens.size() - first);
        const SpokenBatch part =
            model_.speak(speech_tensors(request, first, count, rules_),
                         {.num_steps = request.num_steps,
                          .speed = request.speed,
                          .key = {.seed = request.seed, .step = first / kTextsAtOnce}});
        for (SpokenMel& row : take_spoken(part, options_.scale)) spoken.push_back(std::move(row));
      }
      return spoken;
    });
  }

 private:
  Losses forward(const ModelBatch& batch, const StepKey& key, ModelMode mode) const {
    const AutocastScope autocast(place_.device.type(), options_.precision);
    return model_.loss(batch, key, mode);
  }

  StepKey evaluation_key(std::uint64_t batch_number) const {
    return {.seed = evaluation_seed_, .step = kAfterTraining + batch_number};
  }

  void hold_back(feed::Batch& batch) const {
    if (place_.stream) batch.wait(current_stream(place_.device));
  }

  void add_sums(const Losses& losses) {
    const at::NoGradGuard no_grad;
    const at::Tensor values = at::stack({losses.duration, losses.prior, losses.flow,
                                         losses.alignment, at::ones_like(losses.num_frames)});
    sums_.add_(values.to(at::kDouble) * losses.num_frames);
  }

  // On the CPU.
  void update_here(double learning_rate) {
    busy_.begin();
    const at::Tensor frames = sums_[kNumLosses];
    at::Tensor weight = frames.to(at::kFloat);
    if (scale_.scale.defined()) weight = weight * scale_.scale;
    const FlatUpdate::Outcome outcome =
        update_.apply({weight, sums_.narrow(0, 0, kNumLosses).sum()}, learning_rate);
    if (scale_.scale.defined()) {
      at::_amp_update_scale_(scale_.scale, scale_.num_grown, outcome.is_skipped, 2.0, 0.5,
                             kGrowthInterval);
    }
    busy_.end();
    const double* const sums = sums_.const_data_ptr<double>();
    const double weighed_by = sums[kNumLosses] == 0 ? 1 : sums[kNumLosses];
    figures_.push_back(
        {.update = num_updates_,
         .losses = {sums[0] / weighed_by, sums[1] / weighed_by, sums[2] / weighed_by},
         .gradient_norm = outcome.gradient_norm.item<double>(),
         .is_skipped = outcome.is_skipped.item<double>() != 0,
         .compute_s = busy_.busy_s(),
         .began_s = busy_.began_s(),
         .ended_s = busy_.ended_s()});
    sums_.zero_();
    busy_ = BusyTime();
  }

  static at::Tensor read_count(const LearnerState& state, const char* name,
                               const at::Tensor& otherwise) {
    const StoredTensor* const stored = state.optimizer.find(name);
    return stored == nullptr ? otherwise : read_tensor(*stored, otherwise);
  }

  LearnerOptions options_;
  TorchPlace place_;
  TtsModel model_;
  FlatUpdate update_;
  TensorRules rules_;
  std::uint64_t evaluation_seed_;
  ScaleTensors scale_;  // of fp16 alone
  std::uint64_t num_updates_ = 0;
  // Of a CPU.
  at::Tensor sums_;  // f64 [kNumSums], as a StepLedger's
  BusyTime busy_;
  std::vector<UpdateFigures> figures_;
  // Of a GPU.
  std::optional<DeviceSteps> steps_;
};

}  // namespace

std::string torch_version() {
  const std::string words = at::show_config();
  constexpr std::string_view kKey = "TORCH_VERSION=";
  const std::size_t found = words.find(kKey);
  if (found == std::string::npos) return "unknown";
  const std::size_t begin = found + kKey.size();
  return words.substr(begin, words.find(',', begin) - begin);
}

std::unique_ptr<Learner> make_learner(const LearnerOptions& options) {
  return guarded([&]() -> std::unique_ptr<Learner> {
    const TorchPlace place = prepare_torch(options);
    const c10::OptionalStreamGuard on_stream(place.stream);
    return std::make_unique<TorchLearner>(options, place);
  });
}

}  // namespace stoker::train
