#include "stoker/audio/mel/cuda/device_log_mel.h"

namespace stoker::audio {

std::string_view mel_variant_name(MelVariant variant) {
  switch (variant) {
    case MelVariant::kAuto:
      return "auto";
    case MelVariant::kHopper:
      return "hopper";
    case MelVariant::kPortable:
      return "portable";
    case MelVariant::kGeneral:
      return "general";
  }
  return "unknown";
}

}  // namespace stoker::audio
