// The sizes of the model: what decides its parameters, and nothing else.
#pragma once

#include <cstdint>

#include "stoker/config/choices.h"

namespace stoker::train {

// What the alignment tells apart within a token: its begin, middle and end.
inline constexpr std::int64_t kStatesPerToken = 3;

// Widths are multiples of the number of heads times two (rotary positions turn pairs).
struct ModelShape {
  std::int64_t num_tokens = 0;  // ids of the vocabulary; the model adds two for the edges of a text
  std::int64_t num_mels = 80;
  std::int64_t text_width = 256;
  std::int64_t text_layers = 6;
  std::int64_t text_heads = 4;
  std::int64_t decoder_width = 512;
  std::int64_t decoder_layers = 8;
  std::int64_t decoder_heads = 8;
  std::int64_t decoder_frames = 1;      // that share one place of the decoder
  std::int64_t num_latents = 32;        // of the reference, before the text
  std::int64_t reference_frames = 258;  // longest reference: three seconds

  bool operator==(const ModelShape&) const = default;
};

// About 3, 12, 45 and 120 million parameters.
ModelShape shape_of(config::ModelSize size, std::int64_t num_tokens, std::int64_t num_mels);

// Exactly as many as a model of this shape has; without libtorch.
std::uint64_t count_parameters(const ModelShape& shape);

}  // namespace stoker::train
