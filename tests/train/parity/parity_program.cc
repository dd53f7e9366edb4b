// Runs every layer, every loss and the whole model on small inputs, in fp32 and in bf16, and writes
// what came out with all gradients: parity_test.py compares it with PyTorch. parity_program FILE
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>

#include <cstdio>
#include <exception>

#include "stoker/train/model/decoder.h"
#include "stoker/train/model/encoders.h"
#include "stoker/train/model/losses.h"
#include "tests/train/parity/case_file.h"

namespace stoker::train {
namespace {

at::Tensor indices(std::initializer_list<std::int64_t> values) {
  return at::tensor(std::vector<std::int64_t>(values), at::kLong);
}

// Suffix of the case's name, and whether its products are made in bf16.
struct Precision {
  const char* suffix;
  bool is_bf16;
};
constexpr Precision kPrecisions[]{{"", false}, {".bf16", true}};

class AutocastScope {
 public:
  explicit AutocastScope(const Precision& precision) {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, precision.is_bf16);
  }
  ~AutocastScope() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;
};

// A layer of one input.
template <class Layer>
void one_input(CaseFile& file, const std::string& name, const ParameterSet& set, const Layer& layer,
               const at::Tensor& value) {
  for (const Precision& precision : kPrecisions) {
    ParityCase parity(file, name + precision.suffix);
    parity.parameters(set.all());
    const at::Tensor input = parity.input("values", value);
    at::Tensor out;
    {
      const AutocastScope scope(precision);
      out = layer(input);
    }
    parity.outputs({{"values", out}});
  }
}

void small_layers(CaseFile& file) {
  const at::Tensor values = random_values({2, 9, 16}, 1);
  {
    ParameterSet set(1);
    one_input(file, "linear", set, Linear(set, "layer", {16, 24}), values);
  }
  {
    ParameterSet set(2);
    one_input(file, "layer_norm", set, LayerNorm(set, "layer", 16), values);
  }
  for (const std::int64_t stride : {1, 2}) {
    ParameterSet set(3);
    const TimeConvolution layer(set, "layer", {16, 12, 5, stride});
    one_input(file, "convolution_" + std::to_string(stride), set, layer, values);
  }
  {
    ParameterSet set(4);
    one_input(file, "feed_forward", set, FeedForward(set, "layer", 16), values);
  }
  {
    const ParameterSet none(5);
    const RotaryTable table(8);
    const auto turn = [&](const at::Tensor& input) { return table.turn(input); };
    one_input(file, "rotary", none, turn, random_values({2, 7, 2, 3, 8}, 2));
  }
}

void attention(CaseFile& file) {
  const at::Tensor mask = length_mask(indices({9, 4}), 9);
  for (const Precision& precision : kPrecisions) {
    ParameterSet set(6);
    const SelfAttention layer(set, "layer", 16, 2);
    ParityCase parity(file, std::string("self_attention") + precision.suffix);
    parity.parameters(set.all());
    const at::Tensor values = parity.input("values", random_values({2, 9, 16}, 3));
    parity.given("mask", mask);
    const AutocastScope scope(precision);
    parity.outputs({{"values", layer(values, key_bias(mask))}});
  }
  for (const Precision& precision : kPrecisions) {
    ParameterSet set(7);
    const CrossAttention layer(set, "layer", 16, 2);
    ParityCase parity(file, std::string("cross_attention") + precision.suffix);
    parity.parameters(set.all());
    const at::Tensor queries = parity.input("queries", random_values({2, 5, 16}, 4));
    const at::Tensor values = parity.input("values", random_values({2, 9, 16}, 5));
    parity.given("mask", mask);
    const AutocastScope scope(precision);
    parity.outputs({{"values", layer(queries, values, key_bias(mask))}});
  }
}

void text_block(CaseFile& file) {
  ParameterSet set(8);
  const TextBlock layer(set, "layer", small_shape());
  const StepContext context{{3, 4}, 0.25};
  ParityCase parity(file, "text_block");
  parity.parameters(set.all());
  const at::Tensor values = parity.input("values", random_values({2, 9, 16}, 6));
  const at::Tensor mask = parity.given("mask", length_mask(indices({6, 9}), 9));
  for (const std::uint32_t site : {4U, 5U}) {
    parity.given(
        "uniform_" + std::to_string(site),
        draw(DrawKind::kUniform, {context.key, kDropoutDraws, site}, {2, 9, 16}, at::kCPU));
  }
  parity.outputs({{"values", layer(values, key_bias(mask), context, 4)}});
}

void encoders(CaseFile& file) {
  {
    ParameterSet set(9);
    const ReferenceEncoder encoder(set, small_shape());
    ParityCase parity(file, "reference_encoder");
    parity.parameters(set.all());
    const at::Tensor mel = parity.input("mel", random_values({3, 11, 8}, 7));
    const Voice voice = encoder(mel, parity.given("lengths", indices({11, 6, 3})));
    parity.outputs({{"latents", voice.latents}, {"vector", voice.vector}});
  }
  ParameterSet set(10);
  const TextEncoder encoder(set, small_shape());
  const DurationPredictor duration(set, small_shape());
  ParityCase parity(file, "text_encoder");
  parity.parameters(set.all());
  const ModelBatch batch = make_batch(small_shape(), {{7, 0}, {3, 0}, {5, 0}}, {7, 1});
  parity.given("tokens", batch.tokens);
  parity.given("text_len", batch.text_len);
  const at::Tensor latents = parity.input("latents", random_values({3, 4, 16}, 8));
  const EdgedText text = with_edges(batch.tokens, batch.text_len, 11);
  const at::Tensor hidden = encoder(text, latents, {});
  const at::Tensor mask = text.mask.to(at::kFloat);
  parity.outputs({{"hidden", hidden * mask.unsqueeze(2)},
                  {"log_duration", duration(hidden, text.mask, {}) * mask}});
}

void decoder(CaseFile& file, std::int64_t frames_a_place, const Precision& precision) {
  ModelShape shape = small_shape();
  shape.decoder_frames = frames_a_place;
  ParameterSet set(11);
  const Decoder layer(set, shape);
  ParityCase parity(file, "decoder_" + std::to_string(frames_a_place) + precision.suffix);
  parity.parameters(set.all());
  const at::Tensor mean = parity.input("mean", random_values({2, 4, 8}, 9));
  const at::Tensor hidden = parity.input("hidden", random_values({2, 4, 16}, 10));
  const at::Tensor noisy = parity.input("noisy", random_values({2, 9, 8}, 11));
  const at::Tensor voice = parity.input("voice", random_values({2, 24}, 12));
  const at::Tensor time = parity.given("time", at::tensor({0.2F, 0.9F}));
  const at::Tensor token_of_frame =
      parity.given("token_of_frame",
                   indices({0, 0, 1, 1, 1, 2, 3, 3, 3, 0, 1, 2, 3, 3, 0, 0, 0, 0}).view({2, 9}));
  const at::Tensor mask = parity.given("mask", length_mask(indices({9, 5}), 9));
  const AutocastScope scope(precision);
  const at::Tensor condition = layer.condition({mean, hidden, token_of_frame, mask});
  const at::Tensor velocity = layer.velocity({noisy, condition, time, voice, mask});
  parity.outputs({{"velocity", velocity * mask.unsqueeze(2)}});
}

void losses(CaseFile& file) {
  const at::Tensor mask = length_mask(indices({7, 4}), 7);
  {
    ParityCase parity(file, "duration_loss");
    const at::Tensor log_duration = parity.input("log_duration", random_values({2, 7}, 13));
    const at::Tensor count = random_values({2, 7}, 14).abs().mul(5).ceil();
    parity.given("mask", mask);
    parity.outputs({{"loss", duration_loss(log_duration, parity.given("count", count), mask)}});
  }
  {
    ParityCase parity(file, "masked_square");
    const at::Tensor difference = parity.input("difference", random_values({2, 7, 8}, 15));
    parity.given("mask", mask);
    parity.outputs({{"loss", masked_square(difference, mask)}});
  }
  {
    ParityCase parity(file, "flow_target");
    const at::Tensor mel = parity.input("mel", random_values({2, 7, 8}, 16));
    StepDraws draws;
    draws.time = parity.given("time", at::tensor({0.3F, 0.8F}));
    draws.noise = parity.given("noise", random_values({2, 7, 8}, 17));
    const FlowTarget target = flow_target(mel, draws.noise, draws.time.view({-1, 1, 1}));
    parity.outputs({{"noisy", target.noisy}, {"velocity", target.velocity}});
  }
  ParityCase parity(file, "states");
  const at::Tensor states = parity.input("states", random_values({2, 3, kStatesPerToken, 8}, 18));
  const at::Tensor mel = parity.given("mel", random_values({2, 24, 8}, 19));
  const at::Tensor token_len = parity.given("token_len", indices({3, 3}));
  const at::Tensor mel_len = parity.given("mel_len", indices({24, 14}));
  const at::Tensor frames = length_mask(mel_len, 24);
  const at::Tensor target = alignment_target(mel, frames);
  const Alignment found = align({states.detach(), target, token_len, mel_len, 40});
  const at::Tensor chosen = aligned_states(states, found) * frames.to(at::kFloat).unsqueeze(2);
  parity.outputs({{"target", target},
                  {"token_of_frame", found.token_of_frame.to(at::kFloat)},
                  {"chosen", chosen}});
}

void whole_model(CaseFile& file, std::int64_t frames_a_place, const Precision& precision) {
  ModelShape shape = small_shape();
  shape.decoder_frames = frames_a_place;
  const TtsModel model(shape, {});
  ParityCase parity(file, "model_" + std::to_string(frames_a_place) + precision.suffix);
  parity.parameters(model.parameters());
  const ModelBatch batch = make_batch(shape, {{4, 45}, {8, 51}, {0, 0}, {9, 10}, {3, 17}}, {9, 51});
  parity.given("tokens", batch.tokens);
  parity.given("text_len", batch.text_len);
  parity.given("mel", batch.mel);
  parity.given("mel_len", batch.mel_len);
  const StepKey key{7, 8};
  const StepDraws draws = draw_step(key, batch.mel);
  parity.given("time", draws.time);
  parity.given("noise", draws.noise);
  parity.given("crop", draws.crop);
  Losses found;
  {
    const AutocastScope scope(precision);
    found = model.loss(batch, key, ModelMode::kEvaluate);
  }
  parity.given("token_of_frame", found.token_of_frame);
  parity.outputs({{"duration", found.duration},
                  {"prior", found.prior},
                  {"flow", found.flow},
                  {"alignment", found.alignment},
                  {"num_frames", found.num_frames}});
}

}  // namespace
}  // namespace stoker::train

int main(int argc, char** argv) {
  using namespace stoker::train;
  if (argc != 2) return std::fputs("usage: parity_program FILE\n", stderr), 2;
  try {
    at::set_num_threads(1);
    CaseFile file;
    small_layers(file);
    attention(file);
    text_block(file);
    encoders(file);
    losses(file);
    for (const Precision& precision : kPrecisions) {
      for (const std::int64_t frames_a_place : {1, 2}) {
        decoder(file, frames_a_place, precision);
        whole_model(file, frames_a_place, precision);
      }
    }
    file.write(argv[1]);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
  return 0;
}
