#include "stoker/train/speech/speaker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/cpu_count.h"
#include "stoker/base/thread/parallel.h"
#include "stoker/train/checkpoint/run_folder.h"
#include "stoker/train/errors.h"
#include "stoker/train/loop/voice_record.h"
#include "stoker/train/model/model_shape.h"
#include "stoker/train/speech/reference_sound.h"
#include "stoker/train/speech/spoken_text.h"
#include "stoker/train/speech/vocoder.h"

namespace stoker::train {
namespace {

const ReferenceMel& own_reference(const VoiceRecord& voice, const std::string& folder) {
  if (voice.reference && voice.reference->num_frames > 0) return *voice.reference;
  raise({.code = &kSpeakReference,
         .place = {.file = folder},
         .promised = "a reference in the checkpoint",
         .found = "none",
         .cure = "name about three seconds of speech with --reference FILE"});
}

using References = std::vector<std::vector<float>>;  // [frames, mels] each

// To speak with: the user's files, else the reference that came with the checkpoint.
References references_of(Io& io, const SpeechRequest& request, const VoiceRecord& voice,
                         const std::string& folder) {
  if (request.references.empty()) return {own_reference(voice, folder).values};
  if (request.references.size() != 1 && request.references.size() != request.texts.size())
    raise({.code = &kSpeakReference,
           .promised =
               fmt::format("one reference, or one for each of {} texts", request.texts.size()),
           .found = std::to_string(request.references.size())});
  References all;
  for (const std::string& path : request.references)
    all.push_back(load_reference(io, path, voice).values);
  return all;
}

// Before a model of that shape is made: a damaged record must not ask for all memory.
void check_weights(const Checkpoint& checkpoint, const VoiceRecord& voice,
                   const std::string& folder) {
  std::uint64_t num_weights = 0;
  for (const StoredTensor& tensor : checkpoint.ema.tensors)
    num_weights += tensor.values.size() / bytes_of(tensor.type);
  if (num_weights == count_parameters(voice.shape)) return;
  raise({.code = &kCheckpointBad,
         .place = {.file = folder + "/ema.safetensors"},
         .promised = fmt::format("{} weights, as the shape in state.json has",
                                 count_parameters(voice.shape)),
         .found = fmt::format("{}", num_weights)});
}

std::unique_ptr<Learner> restored_learner(const MakeLearner& make, const SpeechRequest& request,
                                          const VoiceRecord& voice, FoundCheckpoint& found) {
  check_weights(found.checkpoint, voice, found.folder);
  LearnerOptions options{.shape = voice.shape, .scale = voice.scale};
  options.device = request.device.value_or(Device::cpu());
  options.seed = request.seed;
  options.dropout = 0;
  options.num_threads = count_cpus().allowed;
  std::unique_ptr<Learner> learner = make(options);
  LearnerState state{.model = std::move(found.checkpoint.model),
                     .ema = std::move(found.checkpoint.ema),
                     .optimizer = {}};
  learner->restore(state);
  return learner;
}

// Louder than full scale would be cut off: then the whole text is made quieter.
void keep_within_full_scale(std::vector<float>& samples) {
  constexpr float kMost = 0.99F;
  float peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::abs(sample));
  if (peak <= kMost) return;
  for (float& sample : samples) sample *= kMost / peak;
}

std::vector<SpokenTokens> read_all(const TextReader& reader,
                                   const std::vector<std::string>& texts) {
  if (texts.empty()) raise({.code = &kSpeakText, .promised = "a text", .found = "none"});
  std::vector<SpokenTokens> all;
  all.reserve(texts.size());
  for (const std::string& text : texts) all.push_back(reader.read(text));
  return all;
}

void check_finite(const Learner::SpokenMel& spoken, const std::string& folder) {
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (std::all_of(spoken.mel.begin(), spoken.mel.end(), is_finite)) return;
  raise({.code = &kCheckpointBad,
         .place = {.file = folder},
         .promised = "weights that give finite frames",
         .found = "frames that are not numbers"});
}

struct SpeakingRules {
  const SpeechRequest& request;
  const VoiceRecord& voice;
  const References& references;
  const std::string& folder;  // of the checkpoint, for errors
};

Learner::SpeakRequest asked_of(const std::vector<SpokenTokens>& tokens, const SpeakingRules& how) {
  Learner::SpeakRequest asked{.tokens = {},
                              .references = how.references,
                              .num_steps = how.request.num_steps,
                              .speed = how.request.speed,
                              .seed = how.request.seed};
  for (const SpokenTokens& each : tokens) asked.tokens.push_back(each.ids);
  return asked;
}

// A GPU loads each kernel when it is first used, which takes longer than a sentence: the first text
// in the fewest steps, in seconds.
double use_first(Learner& learner, const std::vector<SpokenTokens>& tokens,
                 const SpeakingRules& how) {
  constexpr int kFewestSteps = 4;
  const Stopwatch watch;
  Learner::SpeakRequest asked = asked_of(tokens, how);
  asked.tokens.resize(1);
  asked.references.resize(1);
  asked.num_steps = kFewestSteps;
  learner.speak(asked);
  return watch.seconds();
}

// From tokens to samples: all texts in one call of the model, then the vocoder on every core.
SpeechReport spoken_by(Learner& learner, std::vector<SpokenTokens>& tokens,
                       const SpeakingRules& how) {
  const config::MelRecipe recipe = config::recipe_of(how.voice.settings.features);
  const std::unique_ptr<Vocoder> vocoder = make_griffin_lim_vocoder(recipe).take_or_raise();
  const Stopwatch watch;
  std::vector<Learner::SpokenMel> spoken = learner.speak(asked_of(tokens, how));
  SpeechReport report;
  report.speeches.resize(spoken.size());
  run_parallel(count_cpus().allowed, spoken.size(), [&](std::size_t i) {
    check_finite(spoken[i], how.folder);
    Speech& speech = report.speeches[i];
    speech = {.text = how.request.texts[i],
              .rate_hz = static_cast<std::uint32_t>(recipe.sample_rate_hz),
              .samples = vocoder->to_samples(spoken[i].mel),
              .mel = std::move(spoken[i].mel),
              .num_frames = spoken[i].num_frames,
              .num_mels = recipe.num_mels,
              .token_of_frame = std::move(spoken[i].token_of_frame),
              .symbols = std::move(tokens[i].symbols)};
    keep_within_full_scale(speech.samples);
  });
  report.compute_s = watch.seconds();
  for (const Speech& speech : report.speeches)
    report.audio_s += static_cast<double>(speech.samples.size()) / speech.rate_hz;
  return report;
}

}  // namespace

SpeechReport speak(Io& io, const SpeechRequest& request, const MakeLearner& make) {
  FoundCheckpoint found = load_checkpoint(io, request.checkpoint).take_or_raise();
  const VoiceRecord voice = take_voice(found.checkpoint, found.folder);
  const TextReader reader(voice, {.language = request.language, .vocabulary = request.vocabulary});
  std::vector<SpokenTokens> tokens = read_all(reader, request.texts);
  const References references = references_of(io, request, voice, found.folder);
  const std::unique_ptr<Learner> learner = restored_learner(make, request, voice, found);
  const SpeakingRules how{
      .request = request, .voice = voice, .references = references, .folder = found.folder};
  const bool is_on_gpu = request.device && request.device->is_cuda();
  const double first_use_s = is_on_gpu ? use_first(*learner, tokens, how) : 0;
  SpeechReport report = spoken_by(*learner, tokens, how);
  report.first_use_s = first_use_s;
  report.passed_over = std::move(found.passed_over);
  return report;
}

SpeechReport speak_with(Learner& learner, const VoiceRecord& voice,
                        const std::vector<std::string>& texts) {
  const SpeechRequest request{.checkpoint = {}, .texts = texts};
  const std::string place = "the run";
  std::vector<SpokenTokens> tokens = read_all(TextReader(voice, {}), texts);
  const References references{own_reference(voice, place).values};
  return spoken_by(learner, tokens,
                   {.request = request, .voice = voice, .references = references, .folder = place});
}

}  // namespace stoker::train
