#include "stoker/train/model/model_shape.h"

namespace stoker::train {
namespace {

std::int64_t linear(std::int64_t in, std::int64_t out) { return in * out + out; }

std::int64_t attention_and_feed_forward(std::int64_t width) {
  return linear(width, 3 * width) + linear(width, width) + linear(width, 4 * width) +
         linear(4 * width, width);
}

std::int64_t reference_encoder(const ModelShape& shape) {
  const std::int64_t width = shape.text_width;
  return linear(5 * shape.num_mels, width) + linear(5 * width, width) + 2 * width +
         shape.num_latents * width + 2 * linear(width, width) + linear(width, 2 * width) +
         linear(width, shape.decoder_width);
}

std::int64_t text_encoder(const ModelShape& shape) {
  const std::int64_t width = shape.text_width;
  return (shape.num_tokens + 2) * width + linear(5 * width, width) +
         shape.text_layers * (attention_and_feed_forward(width) + 4 * width) + 2 * width;
}

std::int64_t duration_predictor(const ModelShape& shape) {
  const std::int64_t width = shape.text_width;
  return 2 * (linear(3 * width, width) + 2 * width) + linear(width, 1);
}

std::int64_t decoder(const ModelShape& shape) {
  const std::int64_t width = shape.decoder_width;
  const std::int64_t frames = shape.decoder_frames;
  return linear(frames * shape.num_mels, width) + linear(shape.num_mels, frames * width) +
         linear(shape.text_width, frames * width) + 2 * linear(width, width) +
         linear(width, (6 * shape.decoder_layers + 2) * width) +
         shape.decoder_layers * attention_and_feed_forward(width) +
         linear(width, frames * shape.num_mels);
}

}  // namespace

ModelShape shape_of(config::ModelSize size, std::int64_t num_tokens, std::int64_t num_mels) {
  ModelShape shape{.num_tokens = num_tokens, .num_mels = num_mels};
  switch (size) {
    case config::ModelSize::kTiny:  // eight steps a second of 4,000 frames on two cores
      shape.text_width = 160;
      shape.text_layers = 4;
      shape.decoder_width = 128;
      shape.decoder_layers = 3;
      shape.decoder_heads = 2;
      shape.decoder_frames = 2;
      shape.num_latents = 8;
      break;
    case config::ModelSize::kSmall:
      shape.text_width = 192;
      shape.text_layers = 4;
      shape.decoder_width = 288;
      shape.decoder_layers = 6;
      shape.decoder_heads = 4;
      break;
    case config::ModelSize::kNormal:
      break;
    case config::ModelSize::kBig:
      shape.text_width = 384;
      shape.text_layers = 8;
      shape.text_heads = 6;
      shape.decoder_width = 768;
      shape.decoder_layers = 9;
      shape.decoder_heads = 12;
      break;
  }
  return shape;
}

std::uint64_t count_parameters(const ModelShape& shape) {
  return static_cast<std::uint64_t>(reference_encoder(shape) + text_encoder(shape) +
                                    linear(shape.text_width, shape.num_mels) +
                                    linear(shape.text_width, kStatesPerToken * shape.num_mels) +
                                    duration_predictor(shape) + decoder(shape));
}

}  // namespace stoker::train
