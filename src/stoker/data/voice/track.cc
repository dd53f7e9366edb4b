#include "stoker/data/voice/track.h"

#include "stoker/data/voice/bend.h"
#include "stoker/data/voice/steady_math.h"

namespace stoker::data::voice {
namespace {

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
