// The learner that uses libtorch: everything of a GPU runs on one stream of its own, and no error
// of libtorch's own type leaves this file.
#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "stoker/base/philox.h"
#include "stoker/train/loop/batch_tensors.h"
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
constexpr int kGrowthInterval = 2000;
constexpr std::size_t kTextsAtOnce = 16;
// Of the batches since the last update: each loss times its frames, then the frames.
constexpr std::int64_t kNumLosses = 4;
constexpr std::int64_t kNumSums = kNumLosses + 1;

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
        update_(model_.parameters(), options.rule, place.device),
        rules_{.device = place.device,
               .scale = options.scale,
               .num_mels = options.shape.num_mels,
               .max_reference_frames = options.shape.reference_frames},
        evaluation_seed_(KeyedDraws({options.seed, "train-evaluation"}).next_u64()),
        sums_(at::zeros({kNumSums}, at::device(place.device).dtype(at::kDouble))),
        busy_(place.stream) {
    if (options.precision != config::Precision::kFp16) return;
    loss_scale_ = at::full({}, kFirstLossScale, at::device(place.device).dtype(at::kFloat));
    num_grown_ = at::zeros({}, at::device(place.device).dtype(at::kInt));
  }

  std::uint64_t num_parameters() const override { return update_.num_parameters(); }

  void prepare(std::span<const StepShape>) override {}
  GraphFigures graph_figures() const override { return {}; }
  std::uint64_t probe_bytes(const StepShape&) override { return 0; }

  void add_batch(feed::Batch batch, std::uint64_t batch_number) override {
    run([&] {
      if (!has_rows(batch)) return;
      hold_back(batch);
      busy_.begin();
      const ModelBatch tensors = take_tensors(std::move(batch), rules_);
      const Losses losses = forward(tensors, {options_.seed, batch_number}, ModelMode::kTrain);
      at::Tensor weighted = losses.total() * losses.num_frames;
      if (loss_scale_.defined()) weighted = weighted * loss_scale_;
      weighted.backward();
      add_figures(losses);
      busy_.end();
    });
  }

  void update(double learning_rate) override {
    run([&] {
      busy_.begin();
      const at::Tensor frames = sums_[kNumLosses];
      at::Tensor weight = frames.to(at::kFloat);
      if (loss_scale_.defined()) weight = weight * loss_scale_;
      const FlatUpdate::Outcome outcome =
          update_.apply({weight, sums_.narrow(0, 0, kNumLosses).sum()}, learning_rate);
      if (loss_scale_.defined()) {
        at::_amp_update_scale_(loss_scale_, num_grown_, outcome.is_skipped, 2.0, 0.5,
                               kGrowthInterval);
      }
      const at::Tensor values =
          at::cat({sums_.narrow(0, 0, 3) / at::where(frames == 0, at::ones_like(frames), frames),
                   at::stack({outcome.gradient_norm, outcome.is_skipped}).to(at::kDouble)});
      sums_.zero_();
      at::Tensor host = to_host_later(values);
      busy_.end();
      pending_.push_back({++num_updates_, std::move(host), std::move(busy_)});
      busy_ = BusyTime(place_.stream);
    });
  }

  std::vector<UpdateFigures> take_figures(Wait wait) override {
    return run([&] {
      std::vector<UpdateFigures> taken;
      while (!pending_.empty()) {
        const PendingFigures& next = pending_.front();
        if (wait == Wait::kWait) next.busy.wait();
        if (!next.busy.is_done()) break;
        const double* const values = next.host.const_data_ptr<double>();
        taken.push_back({.update = next.update,
                         .losses = {values[0], values[1], values[2]},
                         .gradient_norm = values[3],
                         .is_skipped = values[4] != 0,
                         .compute_s = next.busy.seconds()});
        pending_.pop_front();
      }
      return taken;
    });
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
      if (loss_scale_.defined()) {
        counts.push_back(store_tensor("loss_scale", loss_scale_));
        counts.push_back(store_tensor("loss_scale_age", num_grown_));
      }
      return state;
    });
  }

  void restore(const LearnerState& state) override {
    run([&] {
      const at::Tensor num_updates = read_count(state, "updates", at::zeros({}, at::kLong));
      at::Tensor scale, age;
      if (loss_scale_.defined()) {
        scale = read_count(state, "loss_scale", at::full({}, kFirstLossScale, at::kFloat));
        age = read_count(state, "loss_scale_age", at::zeros({}, at::kInt));
      }
      update_.restore(state);
      num_updates_ = static_cast<std::uint64_t>(num_updates.item<std::int64_t>());
      if (loss_scale_.defined()) {
        loss_scale_.copy_(scale);
        num_grown_.copy_(age);
      }
      sums_.zero_();
      pending_.clear();
      busy_ = BusyTime(place_.stream);
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
  struct PendingFigures {
    std::uint64_t update = 0;
    at::Tensor host;  // f64: three losses, norm, skipped
    BusyTime busy;
  };

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

  void add_figures(const Losses& losses) {
    const at::NoGradGuard no_grad;
    const at::Tensor values = at::stack({losses.duration, losses.prior, losses.flow,
                                         losses.alignment, at::ones_like(losses.num_frames)});
    sums_.add_(values.to(at::kDouble) * losses.num_frames);
  }

  at::Tensor to_host_later(const at::Tensor& values) const {
    if (!place_.stream) return values;
    const at::Tensor host =
        at::empty(values.sizes(), at::device(at::kCPU).dtype(at::kDouble).pinned_memory(true));
    return host.copy_(values, /*non_blocking=*/true);
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
  at::Tensor sums_;                    // f64 [kNumSums]
  at::Tensor loss_scale_, num_grown_;  // of fp16 alone
  std::uint64_t num_updates_ = 0;
  BusyTime busy_;
  std::deque<PendingFigures> pending_;
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
