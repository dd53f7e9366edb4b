// The demo's training: about a minute on the built-in voice, then a sentence that was not in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/base/philox.h"
#include "stoker/base/report/html_report.h"
#include "stoker/config/settings.h"
#include "stoker/observe/report/run_story.h"

namespace stoker::demo {

struct DemoSpeech {
  std::string checkpoint;  // the run folder: its newest one
  std::string text;
  std::string reference;  // sound file
  std::string wav;        // written
  std::string picture;    // written, as SVG
};

// What the demo needs of the trainer. The command brings the library: libstoker.so, which holds the
// demo, is not linked to it.
class DemoTrainer {
 public:
  virtual ~DemoTrainer() = default;
  // Both show how they go on, return the keys of `stoker train --json` and of `stoker synthesize
  // --json`, and throw Failure. `on_event` gets the events of loop/training_run.h and does not
  // throw.
  virtual Json train(const config::Settings& settings,
                     const std::function<void(const Json& event)>& on_event) = 0;
  virtual Json speak(const DemoSpeech& speech) = 0;
};

struct DemoTrainingOptions {
  std::string out;  // the demo's folder
  double seconds = 60;
  std::uint64_t num_utterances = 200;
  std::uint64_t seed = kDefaultSeed;
  unsigned num_workers = 1;
};

// One point of the loss curve.
struct DemoLoss {
  double step = 0;
  double duration = 0;
  double prior = 0;
  double flow = 0;
};

struct DemoTraining {
  std::vector<DemoLoss> losses;
  std::uint64_t num_steps = 0;
  std::uint64_t num_parameters = 0;
  double loss_first = 0;
  double loss_last = 0;
  double clips_per_s = 0;
  double data_ms = 0;  // of a step, waiting for its batch
  double compute_ms = 0;
  double stall_share = 0;
  std::string text;  // empty where training was stopped
  std::string wav;   // the file of `spoken`
  double rtf = 0;
  std::vector<std::byte> reference;  // WAV files
  std::vector<std::byte> spoken;
  std::vector<std::byte> built_in;       // the built-in voice saying the same
  std::string picture;                   // <svg> of frames and alignment
  std::optional<observe::RunStory> run;  // absent: the trainer left nothing to tell of
};

// Makes a data set of one speaker, trains the smallest model on it and speaks. What an earlier demo
// left in its folders is replaced. Throws what the trainer and the files throw.
DemoTraining train_demo(Io& io, const DemoTrainingOptions& options, DemoTrainer& trainer,
                        const std::stop_token& stop);

void add_training(HtmlReport& page, const DemoTraining& training);
// In the place of the above: why there was no training, and how to get it.
void add_training_left_out(HtmlReport& page, std::string_view reason);

}  // namespace stoker::demo
