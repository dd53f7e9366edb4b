#include "stoker/audio/float_cast.h"
#include "stoker/cuda/errors.h"

namespace stoker::audio {

void cast_floats(const FloatCast& /*cast*/, cuda::StreamView /*stream*/) {
  raise({.code = &cuda::kCudaNone,
         .place = {},
         .promised = "a GPU to convert numbers on",
         .found = "a build without CUDA",
         .action = {},
         .cure = {}});
}

}  // namespace stoker::audio
