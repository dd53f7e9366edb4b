// The Persian normaliser.
#pragma once

#include <memory>

#include "stoker/text/normalizer.h"

namespace stoker::text::persian {

std::shared_ptr<const Normalizer> make_normalizer();

}  // namespace stoker::text::persian
