// What the model is made of, for the padded and the packed way through it.
#pragma once

#include "stoker/train/model/decoder.h"
#include "stoker/train/model/encoders.h"
#include "stoker/train/model/losses.h"
#include "stoker/train/model/tts_model.h"

namespace stoker::train {

// Of every token, with the edges.
struct Encoded {
  EdgedText text;
  at::Tensor hidden;
  at::Tensor mean;
  at::Tensor states;
  at::Tensor log_duration;
  at::Tensor voice;
};

struct TtsModel::Parts {
  Parts(const ModelShape& shape_in, const Options& options_in)
      : shape(shape_in),
        options(options_in),
        set(options_in.seed),
        reference(set, shape),
        text(set, shape),
        mean(set, "mean", {shape.text_width, shape.num_mels}),
        states(set, "states", {shape.text_width, kStatesPerToken * shape.num_mels}),
        duration(set, shape),
        decoder(set, shape) {}

  Encoded encode(const ModelBatch& batch, const Prompt& prompt, const StepContext& context) const;

  ModelShape shape;
  Options options;
  ParameterSet set;
  ReferenceEncoder reference;
  TextEncoder text;
  Linear mean;
  Linear states;
  DurationPredictor duration;
  Decoder decoder;
};

}  // namespace stoker::train
