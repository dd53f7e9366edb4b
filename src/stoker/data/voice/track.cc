#include "stoker/data/voice/track.h"

#include "stoker/data/voice/steady_math.h"

namespace stoker::data::voice {
namespace {

// Coarticulation: the path of each tract parameter through neighbouring sounds.
// f1, f2, f3, b1, b2, b3 and the nasal zero, in Hz.
constexpr std::size_t kNumTractValues = 7;
using TractValues = std::array<double, kNumTractValues>;

// A sound in its place: its own targets, the values at its two boundaries, and how fast it moves
// between them.
struct BentSegment {
  TractValues start{}, finish{};
  TractValues left{}, right{};
  double left_ms = 0, right_ms = 0;
  double length_ms = 0;
  double locus_f2_hz = 0;  // of velars, which take it from the vowel beside them

  TractValues at_ms(double since_begin_ms) const;
};

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

// Silence and h have no place of their own: they are between what was and what comes.
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

constexpr double kBurstMs = 11;
constexpr double kVelarBurstMs = 19;
constexpr double kAffricateNoiseShare = 0.55;
constexpr double kNoiseEdgeMs = 18;
constexpr double kUnstressedDb = -2.5;
constexpr double kVelarCentreHz = 1900;

struct Moment {
  const Segment& segment;
  const BentSegment& bent;
  double since_ms;  // since the segment began
};

double noise_time_ms(const Moment& moment) {
  const Phone& phone = *moment.segment.phone;
  if (phone.manner == Manner::kAffricate) return moment.segment.length_ms * kAffricateNoiseShare;
  return moment.bent.locus_f2_hz > 0 ? kVelarBurstMs : kBurstMs;
}

// A stop is a closure (silent, or with the murmur of a voice bar that dies away), then a burst.
void excite_stop(const Moment& moment, Frame& frame) {
  const Phone& phone = *moment.segment.phone;
  const double left_ms = moment.segment.length_ms - moment.since_ms;
  const double noise_ms = noise_time_ms(moment);
  if (phone.is_voiced()) {
    const double fade_db = -6.0 * moment.since_ms / moment.segment.length_ms;
    frame.voice = gain_of_db(phone.excitation.voice_db + fade_db);
  }
  if (left_ms > noise_ms) return;
  const double fade_db =
      phone.manner == Manner::kAffricate ? 0.0 : -8.0 * (1.0 - left_ms / noise_ms);
  frame.noise = gain_of_db(phone.excitation.noise_db + fade_db);
}

void excite_steady(const Moment& moment, Frame& frame) {
  const Excitation& level = moment.segment.phone->excitation;
  const double left_ms = moment.segment.length_ms - moment.since_ms;
  const double edge_ms = moment.since_ms < left_ms ? moment.since_ms : left_ms;
  const double edge = 0.25 + 0.75 * ease(edge_ms / kNoiseEdgeMs);
  const bool weak = moment.segment.phone->is_vowel() && moment.segment.stress == Stress::kNone;
  frame.voice = gain_of_db(level.voice_db + (weak ? kUnstressedDb : 0.0));
  frame.breath = gain_of_db(level.breath_db) * edge;
  frame.noise = gain_of_db(level.noise_db) * edge;
}

// The first part of a sound after a voiceless stop is breath in place of voice.
void apply_onset_breath(const Moment& moment, Frame& frame) {
  if (moment.since_ms >= moment.segment.breath_ms) return;
  frame.voice = 0;
  frame.breath = gain_of_db(-9.0);
}

Frame frame_at(const Moment& moment) {
  Frame frame;
  const Phone& phone = *moment.segment.phone;
  const TractValues values = moment.bent.at_ms(moment.since_ms);
  frame.formant_hz = {values[0], values[1], values[2]};
  frame.width_hz = {values[3], values[4], values[5]};
  frame.nasal_zero_hz = values[6];
  if (phone.manner != Manner::kSilence) frame.colour = &phone.noise;
  if (moment.bent.locus_f2_hz > 0) frame.colour_scale = moment.bent.locus_f2_hz / kVelarCentreHz;
  if (phone.is_stop()) {
    excite_stop(moment, frame);
  } else {
    excite_steady(moment, frame);
  }
  apply_onset_breath(moment, frame);
  return frame;
}

// The larynx does not switch: its gain moves over about 10 ms.
void smooth_voice(std::vector<Frame>& frames) {
  constexpr std::array<double, 5> kWeights{1.0 / 9, 2.0 / 9, 3.0 / 9, 2.0 / 9, 1.0 / 9};
  std::vector<double> voice(frames.size() + 4, 0.0);
  for (std::size_t i = 0; i < frames.size(); ++i) voice[i + 2] = frames[i].voice;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < kWeights.size(); ++k) sum += kWeights[k] * voice[i + k];
    frames[i].voice = sum;
  }
}

}  // namespace

std::vector<Frame> plan_track(const std::vector<Segment>& segments, const PitchContour& pitch) {
  const auto bent = bend_segments(segments);
  const auto num_frames = static_cast<std::size_t>(total_ms(segments) / kFrameMs);
  std::vector<Frame> frames;
  frames.reserve(num_frames);
  std::size_t index = 0;
  double begin_ms = 0;
  for (std::size_t i = 0; i < num_frames; ++i) {
    const double now_ms = (static_cast<double>(i) + 0.5) * kFrameMs;
    while (index + 1 < segments.size() && now_ms >= begin_ms + segments[index].length_ms) {
      begin_ms += segments[index].length_ms;
      ++index;
    }
    frames.push_back(frame_at({segments[index], bent[index], now_ms - begin_ms}));
    frames.back().pitch_hz = pitch.at_ms(now_ms);
  }
  smooth_voice(frames);
  return frames;
}

}  // namespace stoker::data::voice
