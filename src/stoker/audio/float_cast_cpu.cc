#include "stoker/audio/float_cast.h"

namespace stoker::audio {

void cast_floats(const FloatCast& cast) noexcept {
  with_types(cast.from_type, cast.to_type, [&](auto from_value, auto to_value) {
    using To = decltype(to_value);
    const auto* from = static_cast<const decltype(from_value)*>(cast.from);
    auto* to = static_cast<To*>(cast.to);
    for (std::size_t i = 0; i < cast.count; ++i) to[i] = narrow<To>(wide(from[i]));
  });
}

}  // namespace stoker::audio
