#include "stoker/data/voice/timing.h"

namespace stoker::data::voice {
namespace {

constexpr double kCommaPauseMs = 170;
constexpr double kSentencePauseMs = 330;

struct PlaceInWord {
  const SpokenWord& word;
  std::size_t index;

  const SpokenPhone* neighbour(int step) const {
    const auto at = static_cast<std::ptrdiff_t>(index) + step;
    if (at < 0 || at >= static_cast<std::ptrdiff_t>(word.phones.size())) return nullptr;
    return &word.phones[static_cast<std::size_t>(at)];
  }
};

std::size_t count_syllables(const SpokenWord& word) {
  std::size_t count = 0;
  for (const auto& spoken : word.phones) count += spoken.phone->is_vowel() ? 1U : 0U;
  return count;
}

// True from the last vowel of the word on.
bool in_last_syllable(const PlaceInWord& place) {
  for (std::size_t i = place.index + 1; i < place.word.phones.size(); ++i) {
    if (place.word.phones[i].phone->is_vowel()) return false;
  }
  return true;
}

double vowel_share(const PlaceInWord& place) {
  const SpokenPhone& self = place.word.phones[place.index];
  double share = self.stress == Stress::kNone ? 0.7 : (self.stress == Stress::kPrimary ? 1.0 : 0.9);
  const std::size_t syllables = count_syllables(place.word);
  if (syllables == 2) share *= 0.92;
  if (syllables > 2) share *= 0.85;
  if (place.word.is_function_word) share *= 0.8;
  if (const SpokenPhone* next = place.neighbour(+1)) {
    const bool voiceless = !next->phone->is_voiced();
    if (next->phone->is_stop() && voiceless) share *= 0.8;
    if (next->phone->manner == Manner::kFricative && !voiceless) share *= 1.15;
  }
  return share;
}

double consonant_share(const PlaceInWord& place) {
  const SpokenPhone* before = place.neighbour(-1);
  const SpokenPhone* after = place.neighbour(+1);
  double share = 1.0;
  if (before != nullptr && !before->phone->is_vowel()) share *= 0.75;
  if (after != nullptr && !after->phone->is_vowel()) share *= 0.8;
  const bool before_stress = after != nullptr && after->stress != Stress::kNone;
  if (before == nullptr && before_stress) share *= 1.1;
  if (!before_stress) share *= 0.85;
  return share;
}

double length_ms(const PlaceInWord& place, double tempo) {
  const Phone& phone = *place.word.phones[place.index].phone;
  double share = phone.is_vowel() ? vowel_share(place) : consonant_share(place);
  if (place.word.boundary != Boundary::kNone && in_last_syllable(place)) {
    share *= phone.is_vowel() ? 1.4 : 1.25;
  }
  return (phone.least_ms + (phone.inherent_ms - phone.least_ms) * share) / tempo;
}

// Aspiration is full before a stressed vowel, short elsewhere, and nearly gone after s.
double breath_after_ms(const PlaceInWord& place, const SpokenPhone& next) {
  const Phone& phone = *place.word.phones[place.index].phone;
  if (!next.phone->is_sonorant()) return 0;
  const SpokenPhone* before = place.neighbour(-1);
  if (before != nullptr && before->phone->manner == Manner::kFricative) {
    return phone.breath_after_ms * 0.3;
  }
  return next.stress == Stress::kPrimary ? phone.breath_after_ms : phone.breath_after_ms * 0.65;
}

void append_word(const SpokenText& text, std::size_t word_index, double tempo,
                 std::vector<Segment>& out) {
  const SpokenWord& word = text[word_index];
  for (std::size_t i = 0; i < word.phones.size(); ++i) {
    const PlaceInWord place{word, i};
    Segment segment{.phone = word.phones[i].phone, .stress = word.phones[i].stress};
    segment.word_index = word_index;
    segment.phone_index = i;
    segment.length_ms = length_ms(place, tempo);
    if (i > 0) {
      const PlaceInWord previous{word, i - 1};
      segment.breath_ms = breath_after_ms(previous, word.phones[i]) / tempo;
    }
    if (i + 1 == word.phones.size()) segment.phrase_end = word.boundary;
    out.push_back(segment);
  }
}

}  // namespace

std::vector<Segment> plan_timing(const SpokenText& text, const Phone& pause, double tempo,
                                 const SilenceEdges& edges) {
  std::vector<Segment> segments;
  const auto add_pause = [&](double ms) { segments.push_back({.phone = &pause, .length_ms = ms}); };
  add_pause(edges.lead_ms);
  for (std::size_t i = 0; i < text.size(); ++i) {
    append_word(text, i, tempo, segments);
    if (i + 1 == text.size() || text[i].boundary == Boundary::kNone) continue;
    add_pause((text[i].boundary == Boundary::kComma ? kCommaPauseMs : kSentencePauseMs) / tempo);
  }
  add_pause(edges.tail_ms);
  return segments;
}

double total_ms(const std::vector<Segment>& segments) {
  double sum = 0;
  for (const Segment& segment : segments) sum += segment.length_ms;
  return sum;
}

}  // namespace stoker::data::voice
