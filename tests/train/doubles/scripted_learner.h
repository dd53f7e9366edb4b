// A learner in the place of the model: its one weight is a function of every batch, number and rate
// it got, so that a run that differs anywhere ends with another weight; figures are as scripted.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/train/loop/learner.h"

namespace stoker::train {

struct AddedBatch {
  std::uint64_t number = 0;
  std::string ids;

  bool operator==(const AddedBatch&) const = default;
};

struct DoneUpdate {
  std::vector<AddedBatch> batches;
  double learning_rate = 0;

  bool operator==(const DoneUpdate&) const = default;
};

// What a test asks for, and what it finds afterwards; outlives the learner.
struct LearnerScript {
  std::set<std::uint64_t> bad_batches{};                         // by number
  std::function<double(std::uint64_t evaluation)> evaluation{};  // prior loss; null: falls
  std::function<void(std::uint64_t update)> on_update{};
  unsigned figures_late = 0;  // updates that the figures come behind, as on a GPU
  // When an update ended on the device's clock, from its number and frames; null: it has none.
  std::function<double(std::uint64_t update, std::uint64_t true_frames)> ended_s{};
  std::function<std::uint64_t(const StepShape&)> probe;                    // may throw
  std::function<std::uint64_t(const StepShape&)> probe_evaluation;         // may throw
  std::function<std::uint64_t(std::span<const StepShape> prepared)> held;  // may be null
  std::function<void(std::span<const StepShape> prepared)> on_prepared{};  // none: forgotten
  std::vector<std::uint64_t> bounds_bytes{};                               // in their order
  GraphFigures graphs{};
  LearnerOptions options{};
  std::vector<StepShape> prepared{};
  std::vector<DoneUpdate> updates{};
  std::uint64_t num_evaluated = 0;
  std::uint64_t weight = 0;
  std::uint64_t num_restored = 0;
};

class ScriptedLearner final : public Learner {
 public:
  ScriptedLearner(LearnerScript& script, const LearnerOptions& options) : script_(script) {
    script_.options = options;
    script_.updates.clear();
    weight_ = options.seed;
  }
  ~ScriptedLearner() override { script_.weight = weight_; }

  std::uint64_t num_parameters() const override { return 1; }

  void prepare(std::span<const StepShape> shapes) override {
    script_.prepared.assign(shapes.begin(), shapes.end());
    if (script_.on_prepared) script_.on_prepared(script_.prepared);
  }
  GraphFigures graph_figures() const override { return script_.graphs; }
  void forget_prepared() override {
    script_.prepared.clear();
    if (script_.on_prepared) script_.on_prepared(script_.prepared);
  }
  std::uint64_t held_bytes() const override {
    return script_.held ? script_.held(script_.prepared) : 0;
  }
  void bound_bytes(std::uint64_t max_bytes) override { script_.bounds_bytes.push_back(max_bytes); }
  std::uint64_t probe_bytes(const StepShape& shape) override {
    return script_.probe ? script_.probe(shape) : 0;
  }
  std::uint64_t probe_evaluation_bytes(const StepShape& shape) override {
    return script_.probe_evaluation ? script_.probe_evaluation(shape) : 0;
  }

  void add_batch(feed::Batch batch, std::uint64_t batch_number) override {
    window_.batches.push_back({batch_number, batch.ids_digest().hex()});
    true_frames_ += batch.counts().true_frames;
    is_bad_ = is_bad_ || script_.bad_batches.contains(batch_number);
  }

  void update(double learning_rate) override {
    window_.learning_rate = learning_rate;
    UpdateFigures figures;
    figures.update = ++num_updates_;
    figures.losses.flow = static_cast<double>(weight_ % 1000) / 1000;
    figures.is_skipped = is_bad_;
    if (script_.ended_s) figures.ended_s = script_.ended_s(num_updates_, true_frames_);
    true_frames_ = 0;
    if (is_bad_) figures.losses.flow = std::numeric_limits<double>::quiet_NaN();
    if (!is_bad_) weight_ = mixed();
    script_.updates.push_back(std::exchange(window_, {}));
    is_bad_ = false;
    figures_.push_back(figures);
    if (script_.on_update) script_.on_update(script_.updates.size());
  }

  std::vector<UpdateFigures> take_figures(Wait wait) override {
    const std::size_t kept =
        wait == Wait::kWait ? 0 : std::min<std::size_t>(script_.figures_late, figures_.size());
    const auto end = figures_.end() - static_cast<std::ptrdiff_t>(kept);
    std::vector<UpdateFigures> done(figures_.begin(), end);
    figures_.erase(figures_.begin(), end);
    return done;
  }

  Evaluation evaluate(feed::Batch batch, std::uint64_t batch_number) override {
    if (batch_number == 0) ++script_.num_evaluated;
    const auto count = static_cast<double>(script_.num_evaluated);
    Evaluation out{.losses = {}, .num_frames = static_cast<double>(batch.counts().true_frames)};
    out.losses.prior = script_.evaluation ? script_.evaluation(script_.num_evaluated) : 1.0 / count;
    return out;
  }

  std::vector<RowAlignment> align(feed::Batch batch) override {
    std::vector<RowAlignment> rows;
    for (std::size_t row = 0; row < batch.num_rows(); ++row)
      if (!batch.id(row).empty())
        rows.push_back(
            {std::string(batch.id(row)),
             std::vector<std::int32_t>(static_cast<std::size_t>(batch.mel_len()[row]), 0)});
    return rows;
  }
  PictureRow picture(feed::Batch /*batch*/) override { return {}; }

  LearnerState state() override {
    LearnerState out;
    out.model = one("weight", weight_);
    out.ema = one("weight", weight_);
    out.optimizer = one("count", num_updates_);
    return out;
  }
  void restore(const LearnerState& state) override {
    ++script_.num_restored;
    weight_ = value_of(state.model);
    num_updates_ = state.optimizer.tensors.empty() ? 0 : value_of(state.optimizer);
  }
  std::vector<SpokenMel> speak(const SpeakRequest& /*request*/) override { return {}; }

 private:
  std::uint64_t mixed() const {
    DigestStream stream;
    stream.add_text(std::to_string(weight_));
    stream.add_text(std::to_string(num_updates_));
    stream.add_text(std::to_string(std::bit_cast<std::uint64_t>(window_.learning_rate)));
    for (const AddedBatch& batch : window_.batches)
      stream.add_text(std::to_string(batch.number) + batch.ids);
    return std::stoull(stream.finish().hex().substr(0, 15), nullptr, 16);
  }
  static TensorSet one(const std::string& name, std::uint64_t value) {
    StoredTensor tensor{.name = name, .type = TensorType::kI64, .shape = {}, .values = {}};
    tensor.values.resize(sizeof value);
    std::memcpy(tensor.values.data(), &value, sizeof value);
    TensorSet set;
    set.tensors.push_back(std::move(tensor));
    return set;
  }
  static std::uint64_t value_of(const TensorSet& set) {
    std::uint64_t value = 0;
    std::memcpy(&value, set.tensors.at(0).values.data(), sizeof value);
    return value;
  }

  LearnerScript& script_;
  DoneUpdate window_;
  bool is_bad_ = false;
  std::uint64_t true_frames_ = 0;
  std::uint64_t weight_ = 0;
  std::uint64_t num_updates_ = 0;
  std::vector<UpdateFigures> figures_;
};

}  // namespace stoker::train
