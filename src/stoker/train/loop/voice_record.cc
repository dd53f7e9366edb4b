#include "stoker/train/loop/voice_record.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "stoker/config/settings_text.h"
#include "stoker/train/errors.h"

namespace stoker::train {
namespace {

struct ShapeField {
  std::string_view name;
  std::int64_t ModelShape::*member;
  std::int64_t high;  // far above any model that fits a machine; a damaged file asks for more
};

constexpr std::array kShapeFields{
    ShapeField{"num_tokens", &ModelShape::num_tokens, 1 << 24},
    ShapeField{"num_mels", &ModelShape::num_mels, 4096},
    ShapeField{"text_width", &ModelShape::text_width, 1 << 15},
    ShapeField{"text_layers", &ModelShape::text_layers, 1024},
    ShapeField{"text_heads", &ModelShape::text_heads, 1024},
    ShapeField{"decoder_width", &ModelShape::decoder_width, 1 << 15},
    ShapeField{"decoder_layers", &ModelShape::decoder_layers, 1024},
    ShapeField{"decoder_heads", &ModelShape::decoder_heads, 1024},
    ShapeField{"decoder_frames", &ModelShape::decoder_frames, 1024},
    ShapeField{"num_latents", &ModelShape::num_latents, 1 << 16},
    ShapeField{"reference_frames", &ModelShape::reference_frames, 1 << 20},
};
static_assert(sizeof(ModelShape) == kShapeFields.size() * sizeof(std::int64_t),
              "every member of a shape is kept");

[[noreturn]] void refuse(const std::string& folder, std::string promised, std::string found) {
  raise({.code = &kCheckpointBad,
         .place = {.file = folder + "/state.json"},
         .promised = std::move(promised),
         .found = std::move(found)});
}

Json shape_json(const ModelShape& shape) {
  Json out = Json::object();
  for (const ShapeField& field : kShapeFields) out[field.name] = shape.*field.member;
  return out;
}

ModelShape shape_of_json(const Json& json, const std::string& folder) {
  ModelShape shape;
  for (const ShapeField& field : kShapeFields) {
    const double value = json.at(field.name).number();
    const bool is_whole =
        value >= 0 && value <= static_cast<double>(field.high) && value == std::floor(value);
    if (!is_whole)
      refuse(folder, fmt::format("shape.{} from 0 to {}", field.name, field.high),
             fmt::format("{}", value));
    shape.*field.member = static_cast<std::int64_t>(value);
  }
  return shape;
}

MelScale scale_of_json(const Json& json, const std::string& folder) {
  const MelScale scale{.mean = json.at("mean").number(),
                       .deviation = json.at("deviation").number()};
  if (!(scale.deviation > 0) || !std::isfinite(scale.deviation) || !std::isfinite(scale.mean))
    refuse(folder, "mel_scale.deviation above 0", fmt::format("{}", scale.deviation));
  return scale;
}

std::optional<ReferenceMel> take_reference(TensorSet& ema, std::int64_t num_mels,
                                           const std::string& folder) {
  for (std::size_t i = 0; i < ema.tensors.size(); ++i) {
    const StoredTensor& tensor = ema.tensors[i];
    if (tensor.name != kReferenceName) continue;
    if (tensor.type != TensorType::kF32 || tensor.shape.size() != 2 || tensor.shape[1] != num_mels)
      refuse(folder, fmt::format("{} as F32 [frames, {}]", kReferenceName, num_mels),
             fmt::format("{} of {} axes", name_of(tensor.type), tensor.shape.size()));
    ReferenceMel reference{.num_frames = tensor.shape[0], .num_mels = num_mels, .values = {}};
    reference.values.resize(tensor.values.size() / sizeof(float));
    std::memcpy(reference.values.data(), tensor.values.data(),
                reference.values.size() * sizeof(float));
    ema.tensors.erase(ema.tensors.begin() + static_cast<std::ptrdiff_t>(i));
    return reference;
  }
  return std::nullopt;
}

}  // namespace

void put_voice(const VoiceRecord& voice, Checkpoint& checkpoint) {
  Json& state = checkpoint.state;
  state["shape"] = shape_json(voice.shape);
  state["mel_scale"] = Json{{"mean", voice.scale.mean}, {"deviation", voice.scale.deviation}};
  state["settings"] = config::settings_json(voice.settings);
  state["language"] = voice.language;
  state["phones"] = voice.phones;
  if (!voice.reference) return;
  const ReferenceMel& reference = *voice.reference;
  StoredTensor tensor{.name = std::string(kReferenceName),
                      .type = TensorType::kF32,
                      .shape = {reference.num_frames, reference.num_mels},
                      .values = std::vector<std::byte>(reference.values.size() * sizeof(float))};
  std::memcpy(tensor.values.data(), reference.values.data(), tensor.values.size());
  checkpoint.ema.tensors.push_back(std::move(tensor));
}

VoiceRecord take_voice(Checkpoint& checkpoint, const std::string& folder) {
  const Json& state = checkpoint.state;
  try {
    VoiceRecord voice{
        .shape = shape_of_json(state.at("shape"), folder),
        .scale = scale_of_json(state.at("mel_scale"), folder),
        .settings = config::settings_of_json(state.at("settings"), folder + "/state.json"),
        .language = state.at("language").text()};
    for (const Json& phone : state.at("phones").elements()) voice.phones.push_back(phone.text());
    voice.reference = take_reference(checkpoint.ema, voice.shape.num_mels, folder);
    return voice;
  } catch (const std::out_of_range& absent) {
    refuse(folder, "shape, mel_scale, settings, language and phones", absent.what());
  }
}

}  // namespace stoker::train
