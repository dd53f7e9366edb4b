// How exactly log-mel is computed on the CPU: as fast as its tolerance allows, or as near as its
// dtype can come.
#pragma once

namespace stoker::audio {

enum class MelArithmetic {
  kFast,   // f32 for the recipes that stay within their tolerance in it: the feed and the cache
  kExact,  // f64 up to the rounding of the result, at half the speed: files for others
};

}  // namespace stoker::audio
