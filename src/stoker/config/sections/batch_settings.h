// Settings that decide which rows stand together in a batch, and what a batch holds.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "stoker/config/choices.h"
#include "stoker/config/field.h"

namespace stoker::config {

// batch_size and batch_frames exclude each other: the one from the stronger source is in force and
// the other is none.
struct BatchSettings {
  static constexpr std::string_view kSection = "data";
  static constexpr std::string_view kTitle = "Batches";

  Maybe<std::int64_t> batch_size;
  Auto<std::int64_t> batch_frames = 40'000;
  std::int64_t max_shapes = 48;
  BatchLayout batch_layout = BatchLayout::kPadded;
  Auto<std::int64_t> batch_multiple;
  bool shuffle = true;
  bool drop_last = false;
  bool static_shapes = false;
  Auto<MelDtype> batch_dtype;
  bool with_audio = false;
  ReferencePart reference = ReferencePart::kNone;
  double reference_audio_s = 3.0;
  Maybe<std::int64_t> segment_frames;
  std::vector<std::string> arrays;

  static constexpr auto fields() {
    using C = BatchSettings;
    constexpr Affects kOrder = Affects::kOrder;
    return std::tuple{
        field("batch_size", &C::batch_size, {1, 65'536},
              "Utterances a batch; none: batch_frames decides.")
            .unit("utterances")
            .old("training.batch_size")
            .affects(kOrder),
        field("batch_frames", &C::batch_frames, {64, 1'000'000'000},
              "Mel frames a batch over all ranks; auto: the most that fits the GPU's memory.")
            .unit("frames")
            .affects(kOrder)
            .not_yet(NotYet::kFeed, "auto"),
        field("max_shapes", &C::max_shapes, {1, 1024}, "Different padded shapes in a run.")
            .affects(kOrder),
        field("batch_layout", &C::batch_layout, "Padded rows, or utterances end to end.")
            .affects(kOrder),
        field("batch_multiple", &C::batch_multiple, {1, 65'536},
              "Rows of a batch are a multiple of this; auto: the world size.")
            .affects(kOrder),
        field("shuffle", &C::shuffle, "New order each epoch; off: the order of the files.")
            .affects(kOrder),
        field("drop_last", &C::drop_last, "Leave short last batches out instead of filling them.")
            .affects(kOrder),
        field("static_shapes", &C::static_shapes, "Pad every batch to one shape.")
            .flags("--enable-static-shapes --pad-to-fixed-length")
            .off_flags("--disable-static-shapes")
            .old("data.pad_to_fixed_length")
            .affects(kOrder),
        field("batch_dtype", &C::batch_dtype, "Number format of delivered mels; auto: the cache's.")
            .affects(kOrder),
        field("with_audio", &C::with_audio, "Deliver the waveform beside the mel.").affects(kOrder),
        field("reference", &C::reference,
              "Reference mel of the same utterance or of another one of its speaker.")
            .affects(kOrder),
        field("reference_audio_length", &C::reference_audio_s, {0.1, 600.0},
              "Length of the reference.")
            .unit("s")
            .affects(kOrder),
        field("segment_frames", &C::segment_frames, {1, 1'000'000},
              "Deliver aligned crops of wave and mel of this length.")
            .unit("frames")
            .affects(kOrder),
        field("arrays", &C::arrays, "Named arrays of the cache to deliver, e.g. [f0].")
            .affects(kOrder),
    };
  }
};

}  // namespace stoker::config
