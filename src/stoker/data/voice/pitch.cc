#include "stoker/data/voice/pitch.h"

#include "stoker/data/voice/steady_math.h"

namespace stoker::data::voice {
namespace {

constexpr double kPhraseStartSemitones = 2.0;
constexpr double kPhraseEndSemitones = -1.5;
constexpr double kUtteranceFallSemitones = -1.5;
constexpr double kSemitonesPerOctave = 12.0;

double tail_semitones(Boundary boundary) {
  switch (boundary) {
    case Boundary::kStatement:
      return -3.5;
    case Boundary::kQuestion:
      return 6.0;
    case Boundary::kComma:
      return 2.0;
    case Boundary::kNone:
      break;
  }
  return 0.0;
}

}  // namespace

PitchContour::PitchContour(const SpokenText& text, const std::vector<Segment>& segments,
                           const Speaker& speaker, KeyedDraws& draws)
    : rest_hz_(speaker.pitch_hz), range_(speaker.pitch_range) {
  double now_ms = 0;
  double phrase_begin_ms = 0;
  double last_vowel_ms = 0;
  double height = 5.0;
  for (const Segment& segment : segments) {
    const double middle_ms = now_ms + segment.length_ms * 0.5;
    if (segment.phone->is_vowel()) last_vowel_ms = middle_ms;
    const bool accented = segment.word_index != Segment::kNoWord &&
                          segment.stress == Stress::kPrimary &&
                          !text[segment.word_index].is_function_word;
    if (accented) {
      accents_.push_back({middle_ms, draws.next_between(90, 150), draws.next_between(130, 210),
                          height * draws.next_between(0.65, 1.1)});
      height = clamp_between(height * 0.85, 2.5, 5.0);
    }
    now_ms += segment.length_ms;
    if (segment.phrase_end != Boundary::kNone) {
      phrases_.push_back(
          {phrase_begin_ms, now_ms, last_vowel_ms, tail_semitones(segment.phrase_end)});
      phrase_begin_ms = now_ms;
      height = 4.0;
    }
  }
  utterance_ms_ = now_ms;
}

double PitchContour::accents_at(double time_ms) const {
  double sum = 0;
  for (const Accent& accent : accents_) {
    const double since = time_ms - accent.peak_ms;
    if (since < -accent.rise_ms || since > accent.fall_ms) continue;
    const double away = since < 0 ? -since / accent.rise_ms : since / accent.fall_ms;
    sum += accent.semitones * (1.0 - ease(away));
  }
  return sum;
}

double PitchContour::at_ms(double time_ms) const {
  double semitones = kUtteranceFallSemitones * (time_ms / (utterance_ms_ + 1.0));
  for (const Phrase& phrase : phrases_) {
    if (time_ms < phrase.begin_ms || time_ms >= phrase.end_ms) continue;
    const double share = (time_ms - phrase.begin_ms) / (phrase.end_ms - phrase.begin_ms);
    semitones += kPhraseStartSemitones + (kPhraseEndSemitones - kPhraseStartSemitones) * share;
    const double tail_ms = phrase.end_ms - phrase.tail_begin_ms;
    semitones += phrase.tail_semitones * ease((time_ms - phrase.tail_begin_ms) / (tail_ms + 1.0));
  }
  semitones += accents_at(time_ms);
  return rest_hz_ * exp2_of(range_ * semitones / kSemitonesPerOctave);
}

}  // namespace stoker::data::voice
