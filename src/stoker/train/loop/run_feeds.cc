#include "stoker/train/loop/run_feeds.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "stoker/base/io/paths.h"
#include "stoker/base/number_text.h"
#include "stoker/cache/read/cache_location.h"
#include "stoker/data/errors.h"
#include "stoker/data/layout.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/from_settings.h"
#include "stoker/pipeline/slot_filler.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

using config::Settings;

constexpr std::uint64_t kEvaluationShare = 4;  // a quarter of the host memory is the evaluation's
constexpr std::int64_t kEvaluationBuffers = 2;

bool has_part_files(const config::DataSettings& data, Io& io) {
  if (!data.metadata_eval_file.empty()) return true;
  if (data.path.empty() || !is_folder(io, real_path(data.path))) return false;
  const Result<File> folder = open_file(io, data.path, OpenFor::kFolder);
  return folder.ok() && data::has_part_files(*folder);
}

enum class Part { kNone, kOther, kFiles, kDrawn };

Part evaluation_part(const Settings& settings, Io& io) {
  const config::DataSettings& data = settings.data;
  if (!data.val_path.empty()) return Part::kOther;
  if (data.split == config::Split::kEval) return Part::kNone;
  if (has_part_files(data, io)) return Part::kFiles;
  return data.val_split > 0 ? Part::kDrawn : Part::kNone;
}

// Of a whole data set that was precomputed both parts are read; building there would leave out
// what is in neither.
std::string whole_cache(const Settings& settings, Io& io) {
  if (!settings.cache.dir.empty() || settings.data.split != config::Split::kAll) return {};
  if (settings.loader.preprocessing_mode == config::PreprocessingMode::kRuntime) return {};
  const std::string folder =
      cache::find_cache_location(settings, data::FeatureIdentity(settings).features, io).folder;
  const auto manifest = info_if_present(io, AT_FDCWD, folder + "/manifest.json");
  return manifest.ok() && manifest.value().has_value() ? folder : std::string();
}

feed::OpenedFeed open_part(Settings& settings, const std::string& whole,
                           const feed::OpenOptions& options) {
  if (!whole.empty()) {
    Settings cached = settings;
    cached.cache.dir = whole;
    cached.loader.preprocessing_mode = config::PreprocessingMode::kPrecompute;
    try {
      feed::OpenedFeed opened = feed::open_feed(cached, options);
      settings = cached;
      return opened;
    } catch (const Failure& failure) {
      if (failure.error().code != &feed::kFeedNotCached) throw;
    }
  }
  return feed::open_feed(settings, options);
}

// The position within another order means nothing; whole epochs are counted on.
feed::OpenedFeed open_train(Settings& settings, const std::string& whole, const FeedStart& start,
                            feed::OpenOptions options) {
  options.state = start.state;
  options.state_origin = start.origin;
  options.record_folder = start.run_folder;
  try {
    return open_part(settings, whole, options);
  } catch (const Failure& failure) {
    if (!start.state || failure.error().code != &feed::kFeedChanged) throw;
    if (!start.may_differ) {
      Error error = failure.error();
      error.code = &kTrainChanged;
      error.cure.clear();
      raise(std::move(error));
    }
  }
  options.state.reset();
  feed::OpenedFeed opened = open_part(settings, whole, options);
  opened.feed.seek({feed::parse_state(*start.state).position.epoch, 0});
  return opened;
}

Settings evaluation_settings(Settings settings, Part part, std::uint64_t buffer_bytes) {
  if (part == Part::kOther) {
    const std::string path = settings.data.val_path;
    settings.data.path = path;
    settings.data.sources.clear();
    settings.data.metadata_train_file.clear();
    settings.data.metadata_eval_file.clear();
    settings.data.wavs_train_dir.clear();
    settings.data.wavs_eval_dir.clear();
    settings.data.split = config::Split::kAll;
    settings.cache.dir.clear();
  } else {
    settings.data.split = config::Split::kEval;
  }
  settings.batch.shuffle = false;
  settings.batch.drop_last = false;
  settings.augment = {};
  settings.loader.num_workers = 1;
  settings.loader.auto_tune_performance = false;
  settings.loader.buffer_memory = config::Bytes{buffer_bytes};
  if (auto& frames = settings.batch.batch_frames)
    frames = evaluation_frames(static_cast<std::uint32_t>(*frames));
  settings.loader.prefetch_buffer_size = kEvaluationBuffers;
  settings.gpu.buffer_size = kEvaluationBuffers;
  if (settings.gpu.data_gpu_memory) settings.gpu.data_gpu_memory->count /= kEvaluationShare;
  return settings;
}

std::string vocabulary_of(const feed::DataSetSource& source) {
  return text::vocabulary_digest(source.spec().tokenizer(source.index()[0]).vocabulary());
}

void check_same_vocabulary(const feed::DataSetSource& train, const feed::DataSetSource& evaluation,
                           const std::string& path) {
  if (vocabulary_of(train) == vocabulary_of(evaluation)) return;
  raise({.code = &kTrainData,
         .place = {.file = path},
         .promised = "the vocabulary of the training data",
         .found = "another one",
         .cure = "give both the same phonemes.csv, or use a vocabulary that depends on no file"});
}

std::optional<feed::OpenedFeed> open_evaluation(Settings& settings, Part part,
                                                const std::string& whole,
                                                const feed::OpenOptions& options) {
  try {
    return open_part(settings, part == Part::kDrawn ? whole : std::string(), options);
  } catch (const Failure& failure) {
    const ErrorCode* code = failure.error().code;
    const bool is_empty = code == &data::kDataNoRows || code == &feed::kFeedEmpty;
    if (part != Part::kDrawn || !is_empty) throw;
    return std::nullopt;
  }
}

}  // namespace

std::uint32_t evaluation_frames(std::uint32_t batch_frames) {
  return std::min(batch_frames, static_cast<std::uint32_t>(config::kDefaultBatchFrames));
}

RunFeeds open_run_feeds(const Settings& given, const FeedStart& start, const TrainingHooks& hooks) {
  Settings settings = feed::resolve_auto_device(given, feed::AutoMel::kMeasured, hooks.devices);
  // A measured choice may fall otherwise after a resume, and a GPU's mel has other last bits.
  if (settings.training.deterministic && settings.gpu.mel_place == config::MelPlace::kAuto)
    settings.gpu.mel_place = config::MelPlace::kCpu;
  const Part part = evaluation_part(settings, *hooks.io);
  const std::string whole = part == Part::kDrawn ? whole_cache(settings, *hooks.io) : std::string();
  const bool is_split = part == Part::kFiles || part == Part::kDrawn;
  const std::uint64_t all_bytes = feed::buffer_bytes_of(settings.loader);
  Settings apart = evaluation_settings(settings, part, all_bytes / kEvaluationShare);
  if (is_split) settings.data.split = config::Split::kTrain;
  if (part != Part::kNone && settings.loader.buffer_memory)
    settings.loader.buffer_memory->count -= all_bytes / kEvaluationShare;
  const feed::OpenOptions options{.io = hooks.io, .stop = hooks.stop, .devices = hooks.devices};
  RunFeeds feeds{.settings = {}, .train = open_train(settings, whole, start, options)};
  feeds.settings = settings;
  if (part == Part::kNone) {
    feeds.lines.push_back("no evaluation: there is no part of the data for it");
    return feeds;
  }
  feeds.evaluation = open_evaluation(apart, part, whole, options);
  if (!feeds.evaluation) {
    feeds.lines.push_back("no evaluation: the evaluation part of the data is empty");
    return feeds;
  }
  check_same_vocabulary(*feeds.train.source, *feeds.evaluation->source, apart.data.path);
  feeds.lines.push_back(
      fmt::format("training on {}, evaluating on {}",
                  counted(feeds.train.source->num_utterances(), "utterance", "utterances"),
                  grouped(feeds.evaluation->source->num_utterances())));
  return feeds;
}

std::int64_t num_token_ids(const feed::DataSetSource& source) {
  std::size_t most = 0;
  std::vector<bool> seen(source.index().languages().size(), false);
  for (std::uint32_t i = 0; i < source.num_utterances(); ++i) {
    const data::Utterance utterance = source.index()[i];
    if (seen[utterance.language]) continue;
    seen[utterance.language] = true;
    most = std::max(most, source.spec().tokenizer(utterance).vocabulary().size());
  }
  return static_cast<std::int64_t>(most);
}

std::string check_lengths(const feed::DataSetSource& source) {
  constexpr std::uint32_t kEdges = 2;  // of the text, each with a frame of its own
  std::uint64_t num_short = 0;
  std::uint64_t num_used = 0;
  for (const feed::SampledUtterance& row :
       source.order_rows(std::numeric_limits<std::uint64_t>::max())) {
    if (!row.is_used) continue;
    ++num_used;
    if (row.num_frames < row.num_tokens + kEdges) ++num_short;
  }
  if (num_short == 0) return {};
  if (num_short == num_used)
    raise({.code = &kTrainData,
           .promised = "utterances with at least one frame for each token",
           .found = fmt::format("none among {}", grouped(num_used)),
           .cure = "use a smaller features.hop_length, or a vocabulary with fewer tokens"});
  return fmt::format(
      "{} of {} utterances have fewer frames than tokens: they are read, but teach nothing",
      grouped(num_short), grouped(num_used));
}

namespace {

std::uint32_t reference_utterance(const feed::DataSetSource& source, std::int64_t wanted_frames) {
  std::uint32_t longest = 0;
  for (std::uint32_t i = 0; i < source.num_utterances(); ++i) {
    if (source.num_frames(i) >= wanted_frames) return i;
    if (source.num_frames(i) > source.num_frames(longest)) longest = i;
  }
  return longest;
}

std::optional<ReferenceMel> read_reference(const feed::DataSetSource& source,
                                           std::int64_t wanted_frames) {
  const std::uint32_t utterance = reference_utterance(source, wanted_frames);
  const std::uint32_t num_frames = source.num_frames(utterance);
  ReferenceMel mel;
  mel.num_mels = source.num_mels();
  mel.values.resize(std::size_t{num_frames} * source.num_mels());
  pipeline::Activity activity;
  pipeline::FillContext context({}, activity, system_clock(), {});
  const Result<std::uint32_t> read = source.make_reader()->read_mel(
      utterance,
      {.values = mel.values.data(), .dtype = config::MelDtype::kF32, .num_frames = num_frames},
      context);
  if (!read) return std::nullopt;
  mel.num_frames = std::min<std::int64_t>(*read, wanted_frames);
  mel.values.resize(static_cast<std::size_t>(mel.num_frames * mel.num_mels));
  return mel;
}

}  // namespace

VoiceRecord describe_voice(const Settings& settings, const feed::DataSetSource& source,
                           std::int64_t reference_frames) {
  VoiceRecord voice{.settings = settings};
  if (!source.index().languages().empty()) voice.language = source.index().languages().front();
  if (const text::PhonemeSidecar* phones = source.spec().phonemes())
    voice.phones = phones->symbols();
  voice.reference = read_reference(source, reference_frames);
  return voice;
}

}  // namespace stoker::train
