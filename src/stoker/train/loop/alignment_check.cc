#include "stoker/train/loop/alignment_check.h"

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "stoker/base/bytes.h"
#include "stoker/base/io/paths.h"
#include "stoker/data/voice/data_set_maker.h"
#include "stoker/feed/open_feed.h"

namespace stoker::train {
namespace {

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30U;
constexpr std::uint64_t kMostUtterances = 400;

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

bool matches(std::span<const TimedPhone> timed, std::span<const std::string> phones) {
  return std::equal(timed.begin(), timed.end(), phones.begin(), phones.end(),
                    [](const TimedPhone& a, const std::string& b) { return a.phone == b; });
}

using TimedById = std::map<std::string, std::vector<TimedPhone>, std::less<>>;

TimedById parse_alignments(std::string_view text) {
  TimedById timed;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const std::optional<Json> line = Json::parse(text.substr(0, end))) {
      try {
        std::vector<TimedPhone>& phones = timed[line->at("id").text()];
        for (const Json& phone : line->at("phones").elements())
          phones.push_back({phone.at("phone").text(), phone.at("end_s").number()});
      } catch (const std::out_of_range&) {
        return {};  // another program's file
      }
    }
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return timed;
}

TimedById load_alignments(Io& io, const std::string& data_path) {
  if (data_path.empty()) return {};
  const std::string path = data_path + "/" + std::string(data::voice::kAlignmentsName);
  const Result<std::optional<FileInfo>> info = info_if_present(io, AT_FDCWD, path);
  if (!info || !info.value()) return {};
  const File file = open_file(io, path, OpenFor::kRead).take_or_raise();
  return parse_alignments(view_text(read_whole(file, kMostFileBytes).take_or_raise()));
}

config::Settings plain_order(config::Settings settings) {
  settings.batch.shuffle = false;
  settings.augment = {};
  settings.loader.num_workers = 1;
  settings.loader.auto_tune_performance = false;
  settings.gpu.buffer_size = 1;
  // What the cache lacks is being built already, or nobody asked for it.
  if (settings.loader.preprocessing_mode == config::PreprocessingMode::kAuto)
    settings.loader.preprocessing_mode = config::PreprocessingMode::kRuntime;
  return settings;
}

}  // namespace

FrameTimes frame_times(const config::MelRecipe& recipe) {
  FrameTimes times{.hop_samples = static_cast<double>(recipe.hop_samples),
                   .offset_samples = 0,
                   .rate_hz = static_cast<double>(recipe.sample_rate_hz)};
  if (recipe.framing == config::MelFraming::kSame)
    times.offset_samples = times.hop_samples / 2;
  else if (recipe.framing != config::MelFraming::kCenter)
    times.offset_samples = static_cast<double>(recipe.n_fft) / 2;
  return times;
}

std::optional<std::vector<std::int32_t>> known_alignment(std::span<const TimedPhone> timed,
                                                         std::span<const std::string> phones,
                                                         const FrameTimes& times,
                                                         std::size_t num_frames) {
  // Pauses around the text are no phones of it.
  std::size_t begin = 0;
  std::size_t count = timed.size();
  if (count > phones.size()) {
    begin = 1;
    count = phones.size();
  }
  if (begin + count > timed.size() || !matches(timed.subspan(begin, count), phones)) {
    begin = 0;
    if (timed.size() < count || !matches(timed.first(count), phones)) return std::nullopt;
  }
  const std::int32_t shift = begin == 0 ? 1 : 0;
  std::vector<std::int32_t> tokens(num_frames);
  std::size_t at = 0;
  for (std::size_t frame = 0; frame < num_frames; ++frame) {
    const double time_s =
        (static_cast<double>(frame) * times.hop_samples + times.offset_samples) / times.rate_hz;
    while (at < timed.size() && timed[at].end_s <= time_s) ++at;
    tokens[frame] = std::min(static_cast<std::int32_t>(at) + shift,
                             static_cast<std::int32_t>(phones.size()) + 1);
  }
  return tokens;
}

void AlignmentShare::add(std::span<const std::int32_t> known, std::span<const std::int32_t> found) {
  ++num_utterances;
  const std::size_t count = std::min(known.size(), found.size());
  for (std::size_t i = 0; i < count; ++i) {
    ++num_frames;
    const bool is_exact = known[i] == found[i];
    const bool is_near = is_exact || (i > 0 && known[i - 1] == found[i]) ||
                         (i + 1 < count && known[i + 1] == found[i]);
    num_exact += is_exact ? 1 : 0;
    num_near += is_near ? 1 : 0;
  }
}

Json AlignmentShare::json() const {
  const double all = static_cast<double>(std::max<std::uint64_t>(num_frames, 1));
  return Json{{"utterances", num_utterances},
              {"frames", num_frames},
              {"exact", static_cast<double>(num_exact) / all},
              {"near", static_cast<double>(num_near) / all}};
}

std::optional<AlignmentShare> check_alignment(const config::Settings& settings, Learner& learner,
                                              const TrainingHooks& hooks) {
  const bool has_phones = settings.text.vocabulary == "phonemes" && !settings.text.add_blank;
  if (!has_phones || settings.features.trim_silence) return std::nullopt;
  const TimedById timed = load_alignments(*hooks.io, settings.data.path);
  if (timed.empty()) return std::nullopt;
  feed::OpenedFeed opened = feed::open_feed(
      plain_order(settings),
      {.io = hooks.io, .num_epochs = 1, .stop = hooks.stop, .devices = hooks.devices});
  std::map<std::string, std::vector<std::string>, std::less<>> phones;
  for (std::uint32_t i = 0; i < opened.source->num_utterances(); ++i) {
    const data::Utterance utterance = opened.source->index()[i];
    phones[std::string(utterance.id)] = words_of(opened.source->spec().spoken_text(utterance));
  }
  const FrameTimes times = frame_times(config::recipe_of(settings.features));
  AlignmentShare share;
  while (share.num_utterances < kMostUtterances) {
    std::optional<feed::Batch> batch = opened.feed.next(hooks.stop);
    if (!batch) break;
    for (const RowAlignment& row : learner.align(std::move(*batch))) {
      const auto spoken = timed.find(row.id);
      const auto text = phones.find(row.id);
      if (spoken == timed.end() || text == phones.end()) continue;
      const auto known =
          known_alignment(spoken->second, text->second, times, row.token_of_frame.size());
      if (known) share.add(*known, row.token_of_frame);
    }
  }
  if (share.num_utterances == 0) return std::nullopt;
  return share;
}

}  // namespace stoker::train
