// What the training loop needs of a model and its optimiser; shows nothing of libtorch, so that the
// loop is tested with a stand-in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/config/choices.h"
#include "stoker/cuda/device.h"
#include "stoker/feed/batch.h"
#include "stoker/train/checkpoint/tensor_file.h"
#include "stoker/train/model/model_shape.h"
#include "stoker/train/model/voice_warp.h"

namespace stoker::train {

// Log-mels are trained on as (value - mean) / deviation.
struct MelScale {
  double mean = 0;
  double deviation = 1;

  bool operator==(const MelScale&) const = default;
};

struct UpdateRule {
  bool is_decoupled = true;  // AdamW; false: Adam, whose decay is part of the gradient
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 1e-6;
  double clip_norm = 1.0;    // 0: not clipped
  double ema_decay = 0.999;  // at most; (1 + n) / (10 + n) after n updates while that is less
};

struct LearnerOptions {
  ModelShape shape{};
  MelScale scale{};
  UpdateRule rule{};
  Device device = Device::cpu();
  config::Precision precision = config::Precision::kFp32;  // not auto
  double dropout = 0.1;
  VoiceWarps warps{};  // of training batches
  std::uint64_t seed = 0;
  bool is_deterministic = false;       // on a GPU; a CPU always is
  unsigned num_threads = 1;            // of libtorch on the CPU
  std::uint64_t max_device_bytes = 0;  // 0: no bound
  bool uses_graphs = false;            // of a GPU
};

// What a step's memory and its graph depend on: the feed's shape, whatever the lengths within it.
struct StepShape {
  bool is_packed = false;
  std::int64_t num_rows = 0;        // utterances, at most
  std::int64_t num_frames = 0;      // of all rows together, padding counted
  std::int64_t num_tokens = 0;      // likewise, without edges
  std::int64_t longest_frames = 0;  // of one row
  std::int64_t longest_tokens = 0;
  std::int64_t reference_frames = 0;  // that come with the batch; 0: cut from the utterance itself

  auto operator<=>(const StepShape&) const = default;
};

// Of the graphs of a run.
struct GraphFigures {
  std::uint64_t num_captured = 0;  // shapes
  std::uint64_t num_eager = 0;     // shapes that could not be captured
  double capture_s = 0;
  std::string reason;  // why the first of the latter could not
};

struct LossFigures {
  double duration = 0;
  double prior = 0;
  double flow = 0;
  double total() const { return duration + prior + flow; }
};

// Of one update, known when the device has done it.
struct UpdateFigures {
  std::uint64_t update = 0;  // from 1
  LossFigures losses;        // means over the true frames of all its batches
  double gradient_norm = 0;  // before clipping
  bool is_skipped = false;   // a loss or gradient was not finite: nothing was changed
  double compute_s = 0;      // of its batches and the update, without waiting for data
  double began_s = 0;        // when the device began the first and ended the update, on the
  double ended_s = 0;        // device's own clock; differences alone mean something
};

// Token index of every frame of one row, the edges before and after the text counted.
struct RowAlignment {
  std::string id;
  std::vector<std::int32_t> token_of_frame;
};

// A state that can be saved and gone on from bit for bit; values are in host memory.
struct LearnerState {
  TensorSet model;
  TensorSet ema;
  TensorSet optimizer;  // moments and counts
};

struct PictureRow {
  std::string id;
  std::int64_t num_frames = 0;
  std::vector<float> mel;        // [frames, mels] as the feed gave it
  std::vector<float> predicted;  // [frames, mels] of the prior, same scale
  std::vector<std::int32_t> token_of_frame;
  std::int64_t num_tokens = 0;  // edges counted
};

// One thread calls it.
class Learner {
 public:
  virtual ~Learner() = default;

  virtual std::uint64_t num_parameters() const = 0;

  // Before the first batch: warms up and captures the steps of these shapes, the largest first;
  // nothing of the state changes. Shapes not named are captured when they are met. E-TRAIN-MEMORY.
  virtual void prepare(std::span<const StepShape> shapes) = 0;
  virtual GraphFigures graph_figures() const = 0;
  // Forgets what prepare() made, and gives its memory back.
  virtual void forget_prepared() = 0;
  // Of the device, now.
  virtual std::uint64_t held_bytes() const = 0;
  // Of the device, from now on: E-TRAIN-MEMORY where more is needed.
  virtual void bound_bytes(std::uint64_t max_bytes) = 0;
  // The most device memory that a step of this shape takes, with what the learner has besides:
  // does one with made-up rows that fill the shape. Only before the first batch. E-TRAIN-MEMORY
  // where it does not fit; then the learner may go on with a smaller one.
  virtual std::uint64_t probe_bytes(const StepShape& shape) = 0;
  // The same for an evaluation, without what the learner has besides.
  virtual std::uint64_t probe_evaluation_bytes(const StepShape& shape) = 0;

  // Adds the gradient of a batch and gives the batch back as soon as the device has read it.
  // `batch_number` counts batches from the run's first and keys every draw. Does not wait for a
  // GPU.
  virtual void add_batch(feed::Batch batch, std::uint64_t batch_number) = 0;
  // One optimiser update from what was added; weighs every batch by its true frames, clips, skips
  // what is not finite, moves the average of the weights, zeroes the gradient. Does not wait.
  virtual void update(double learning_rate) = 0;
  // Figures of updates done since the last call, in order; waits for all of them with kWait, for
  // the oldest with kOldest, so that the device keeps what it has to do.
  enum class Wait { kNo, kOldest, kWait };
  virtual std::vector<UpdateFigures> take_figures(Wait wait) = 0;

  // Losses of a batch with the averaged weights, without dropout or gradient; draws are keyed by
  // `batch_number` in a stream of their own, so that two evaluations compare. Waits.
  struct Evaluation {
    LossFigures losses;
    double num_frames = 0;
  };
  virtual Evaluation evaluate(feed::Batch batch, std::uint64_t batch_number) = 0;
  // How the averaged weights align the rows of a batch; for figures and pictures. Waits.
  virtual std::vector<RowAlignment> align(feed::Batch batch) = 0;
  virtual PictureRow picture(feed::Batch batch) = 0;  // of the first row that is not empty

  // Copies to the host; waits.
  virtual LearnerState state() = 0;
  // E-CHECKPOINT-SHAPE where names or shapes differ. Without `optimizer` tensors moments and counts
  // start from zero.
  virtual void restore(const LearnerState& state) = 0;

  // Speaks with the averaged weights; the request is that of speech/speaker.h.
  struct SpokenMel {
    std::vector<float> mel;  // [frames, mels], log-mel as the recipe makes it
    std::int64_t num_frames = 0;
    std::vector<std::int32_t> token_of_frame;
  };
  struct SpeakRequest {
    std::vector<std::vector<std::int32_t>> tokens;  // of each text, without edges
    std::vector<std::vector<float>> references;     // [frames, mels] log-mel; one, or one each
    int num_steps = 16;
    double speed = 1.0;
    std::uint64_t seed = 0;
  };
  virtual std::vector<SpokenMel> speak(const SpeakRequest& request) = 0;
};

// Of the libtorch that is loaded; "none" in a build without it.
std::string torch_version();

// The learner that uses libtorch; number of threads, TF32, determinism and the bound of memory are
// settings of the process, where the learner made last decides. Throws ConfigError, GpuError,
// MemoryError.
std::unique_ptr<Learner> make_learner(const LearnerOptions& options);

}  // namespace stoker::train
