#include "stoker/data/voice/utterance_maker.h"

#include "stoker/data/voice/pitch.h"
#include "stoker/data/voice/steady_math.h"
#include "stoker/data/voice/synthesizer.h"
#include "stoker/data/voice/track.h"

namespace stoker::data::voice {
namespace {

constexpr int kMostAttempts = 24;
constexpr double kCloseEnough = 0.04;  // of the wanted length
constexpr double kSlowest = 0.8;
constexpr double kFastest = 1.35;
constexpr double kLeastTailMs = 40;

struct Draft {
  Sentence sentence;
  SpokenText text;
  double speech_ms = 0;  // at tempo 1, silence at the ends not counted
};

Draft make_draft(Language language, Sentence sentence) {
  Draft draft;
  draft.sentence = std::move(sentence);
  draft.text = pronounce(language, draft.sentence.spoken);
  draft.speech_ms =
      total_ms(plan_timing(draft.text, phones_of(language)[0], 1.0, {.lead_ms = 0, .tail_ms = 0}));
  return draft;
}

SentenceSize draw_natural_size(KeyedDraws& draws) {
  const std::uint64_t choice = draws.next_below(10);
  if (choice == 0) return SentenceSize::kShort;
  return choice < 8 ? SentenceSize::kPlain : SentenceSize::kLong;
}

SentenceSize size_for(double wanted_ms) {
  if (wanted_ms < 1600) return SentenceSize::kShort;
  return wanted_ms < 3800 ? SentenceSize::kPlain : SentenceSize::kLong;
}

void append_sentence(Sentence& to, const Sentence& more) {
  to.raw += " " + more.raw;
  to.normalised += " " + more.normalised;
  to.spoken += " " + more.spoken;
}

// Several sentences in a row until they fill `wanted_ms` well enough to be stretched to it.
Draft draft_of_length(Language language, double wanted_ms, KeyedDraws& draws) {
  Draft draft = make_draft(language, draw_sentence(language, size_for(wanted_ms), draws));
  while (draft.speech_ms < wanted_ms * kSlowest) {
    Sentence longer = draft.sentence;
    const SentenceSize size = size_for(wanted_ms - draft.speech_ms);
    append_sentence(longer, draw_sentence(language, size, draws));
    draft = make_draft(language, std::move(longer));
  }
  return draft;
}

double distance(const Draft& draft, double wanted_ms) {
  const double ratio = draft.speech_ms / wanted_ms;
  return ratio < 1.0 ? 1.0 / ratio - 1.0 : ratio - 1.0;
}

Draft best_draft(Language language, double wanted_ms, KeyedDraws& draws) {
  Draft best = draft_of_length(language, wanted_ms, draws);
  for (int i = 1; i < kMostAttempts && distance(best, wanted_ms) > kCloseEnough; ++i) {
    Draft next = draft_of_length(language, wanted_ms, draws);
    if (distance(next, wanted_ms) < distance(best, wanted_ms)) best = std::move(next);
  }
  return best;
}

struct Fitted {
  Draft draft;
  double tempo;
  SilenceEdges edges;
};

// Chooses the words, then bends tempo and closing silence so that the length is the drawn one.
Fitted fit_length(const UtterancePlan& plan, KeyedDraws& draws) {
  const auto length_s = draw_length_s(plan.lengths, draws);
  const double tempo = plan.speaker.tempo;
  SilenceEdges edges{draws.next_between(60, 120), draws.next_between(90, 170)};
  if (!length_s) {
    Draft draft =
        make_draft(plan.language, draw_sentence(plan.language, draw_natural_size(draws), draws));
    return {std::move(draft), tempo, edges};
  }
  const double whole_ms = *length_s * 1000.0;
  const double speech_ms = clamp_between(whole_ms - edges.lead_ms - edges.tail_ms, 200, whole_ms);
  Draft draft = best_draft(plan.language, speech_ms * tempo, draws);
  const double fitted_tempo =
      clamp_between(draft.speech_ms / speech_ms, tempo * kSlowest, tempo * kFastest);
  const double left_ms = whole_ms - edges.lead_ms - draft.speech_ms / fitted_tempo;
  edges.tail_ms = left_ms < kLeastTailMs ? kLeastTailMs : left_ms;
  return {std::move(draft), fitted_tempo, edges};
}

// A stop lasts to the onset of voice after it, so its end is later than its release.
void label_times(const std::vector<Segment>& segments, const SpokenText& text,
                 MadeUtterance& made) {
  double now_ms = 0;
  std::size_t word_index = Segment::kNoWord;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    const double next_breath_ms = i + 1 < segments.size() ? segments[i + 1].breath_ms : 0.0;
    const double begin_s = (now_ms + segment.breath_ms) / 1000.0;
    const double end_s = (now_ms + segment.length_ms + next_breath_ms) / 1000.0;
    now_ms += segment.length_ms;
    const bool is_pause = segment.word_index == Segment::kNoWord;
    made.phones.push_back({is_pause ? std::string(segment.phone->symbol)
                                    : text[segment.word_index].phones[segment.phone_index].label,
                           begin_s, end_s});
    if (is_pause) continue;
    if (segment.word_index != word_index) {
      made.words.push_back({text[segment.word_index].text, begin_s, end_s});
    }
    word_index = segment.word_index;
    made.words.back().end_s = end_s;
  }
}

}  // namespace

MadeUtterance make_utterance(const UtterancePlan& plan) {
  KeyedDraws draws({.seed = plan.seed, .stage = "voice-utterance", .item = plan.index});
  Fitted fitted = fit_length(plan, draws);
  const Phone& pause = phones_of(plan.language)[0];
  const auto segments = plan_timing(fitted.draft.text, pause, fitted.tempo, fitted.edges);
  const PitchContour pitch(fitted.draft.text, segments, plan.speaker, draws);
  const SoundSettings sound{.rate_hz = plan.rate_hz,
                            .noise_seed = draws.next_u64(),
                            .peak = draws.next_between(0.5, 0.75)};
  MadeUtterance made;
  made.samples = synthesize(plan_track(segments, pitch), plan.speaker, sound);
  label_times(segments, fitted.draft.text, made);
  made.sentence = std::move(fitted.draft.sentence);
  return made;
}

}  // namespace stoker::data::voice
