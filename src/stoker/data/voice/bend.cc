#include "stoker/data/voice/bend.h"

#include "stoker/data/voice/steady_math.h"

namespace stoker::data::voice {
namespace {

constexpr std::size_t kFirstFormant = 0;
constexpr std::size_t kSecondFormant = 1;
constexpr std::size_t kThirdFormant = 2;
constexpr double kF1Share = 0.3;     // the first formant follows the jaw, not the vowel beside it
constexpr double kWidthShare = 0.6;  // bandwidths and the nose

TractValues values_of(const Phone& phone, const Formants& f) {
  const Bandwidths& b = phone.bandwidths;
  return {f.f1_hz, f.f2_hz, f.f3_hz, b.b1_hz, b.b2_hz, b.b3_hz, phone.nasal_zero_hz};
}

bool takes_targets_from_neighbours(const Phone& phone) {
  return phone.manner == Manner::kSilence || phone.manner == Manner::kAspirate;
}

const Phone* nearest_vowel(const std::vector<Segment>& segments, std::size_t index) {
  if (index + 1 < segments.size() && segments[index + 1].phone->is_sonorant()) {
    return segments[index + 1].phone;
  }
  if (index > 0 && segments[index - 1].phone->is_sonorant()) return segments[index - 1].phone;
  return nullptr;
}

// F2 and F3 of a velar pinch together beside the vowel's second formant.
void place_velar(const std::vector<Segment>& segments, std::size_t index, BentSegment& bent) {
  const Phone* vowel = nearest_vowel(segments, index);
  if (vowel == nullptr) return;
  const double f2 = clamp_between(vowel->start.f2_hz + 150.0, 1000.0, 2400.0);
  for (TractValues* values : {&bent.start, &bent.finish}) {
    (*values)[kSecondFormant] = f2;
    (*values)[kThirdFormant] = clamp_between(f2 + 500.0, 1900.0, 2900.0);
  }
  bent.locus_f2_hz = f2;
}

// Silence and h have no place of their own: they lie between what was and what comes.
void borrow_targets(std::vector<BentSegment>& bent, const std::vector<Segment>& segments,
                    std::size_t i) {
  const bool has_next =
      i + 1 < bent.size() && !takes_targets_from_neighbours(*segments[i + 1].phone);
  const bool has_previous = i > 0 && !takes_targets_from_neighbours(*segments[i - 1].phone);
  const bool is_breath = segments[i].phone->manner == Manner::kAspirate;
  const TractValues own = bent[i].start;
  if (has_next) bent[i].start = bent[i].finish = bent[i + 1].start;
  if (has_previous && !(is_breath && has_next)) bent[i].start = bent[i - 1].finish;
  if (!has_next && has_previous) bent[i].finish = bent[i].start;
  if (!is_breath) return;
  for (std::size_t k = 3; k < kNumTractValues; ++k) bent[i].start[k] = bent[i].finish[k] = own[k];
}

double share_of(const Phone& leader, std::size_t value_index) {
  if (leader.bend.rank <= 1) return 1.0;
  if (value_index == kFirstFormant) return kF1Share;
  if (value_index <= kThirdFormant) return leader.bend.share;
  return kWidthShare;
}

void join(const Segment& left, BentSegment& left_bent, const Segment& right,
          BentSegment& right_bent) {
  const bool left_leads = left.phone->bend.rank >= right.phone->bend.rank;
  const Phone& leader = left_leads ? *left.phone : *right.phone;
  for (std::size_t k = 0; k < kNumTractValues; ++k) {
    const double locus = left_leads ? left_bent.finish[k] : right_bent.start[k];
    const double target = left_leads ? right_bent.start[k] : left_bent.finish[k];
    const double meeting = locus + share_of(leader, k) * (target - locus);
    left_bent.right[k] = meeting;
    right_bent.left[k] = meeting;
  }
  left_bent.right_ms = left_leads ? leader.bend.inside_ms : leader.bend.outside_ms;
  right_bent.left_ms = left_leads ? leader.bend.outside_ms : leader.bend.inside_ms;
}

// In a short sound the two transitions meet in the middle instead of overlapping.
void fit_transitions(BentSegment& bent) {
  const double sum_ms = bent.left_ms + bent.right_ms;
  if (sum_ms <= bent.length_ms || sum_ms <= 0) return;
  const double shrink = bent.length_ms / sum_ms;
  bent.left_ms *= shrink;
  bent.right_ms *= shrink;
}

}  // namespace

TractValues BentSegment::at_ms(double since_begin_ms) const {
  const double glide = ease((since_begin_ms / length_ms - 0.2) / 0.65);
  const double from_left = left_ms > 0 ? 1.0 - ease(since_begin_ms / left_ms) : 0.0;
  const double to_right = right_ms > 0 ? 1.0 - ease((length_ms - since_begin_ms) / right_ms) : 0.0;
  TractValues out;
  for (std::size_t k = 0; k < kNumTractValues; ++k) {
    const double own = start[k] + (finish[k] - start[k]) * glide;
    out[k] = own + (left[k] - start[k]) * from_left + (right[k] - finish[k]) * to_right;
  }
  return out;
}

std::vector<BentSegment> bend_segments(const std::vector<Segment>& segments) {
  std::vector<BentSegment> bent(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Phone& phone = *segments[i].phone;
    bent[i].start = values_of(phone, phone.start);
    bent[i].finish = values_of(phone, phone.finish);
    bent[i].length_ms = segments[i].length_ms;
    if (phone.follows_vowel) place_velar(segments, i, bent[i]);
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (takes_targets_from_neighbours(*segments[i].phone)) borrow_targets(bent, segments, i);
    bent[i].left = bent[i].start;
    bent[i].right = bent[i].finish;
  }
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    join(segments[i], bent[i], segments[i + 1], bent[i + 1]);
  }
  for (BentSegment& one : bent) fit_transitions(one);
  return bent;
}

}  // namespace stoker::data::voice
