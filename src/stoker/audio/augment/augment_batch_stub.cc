#include "stoker/audio/augment/augment_batch.h"
#include "stoker/cuda/errors.h"

namespace stoker::audio {

std::size_t augment_scratch_bytes(std::size_t /*num_utterances*/) noexcept { return 0; }

void augment_batch(const AugmentBatch& /*batch*/, const AugmentRule& /*rule*/,
                   const AugmentPlace& /*place*/) {
  raise({.code = &cuda::kCudaNone,
         .place = {},
         .promised = "a GPU to mix noise on",
         .found = "a build without CUDA",
         .action = {},
         .cure = {}});
}

}  // namespace stoker::audio
