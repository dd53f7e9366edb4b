// Checks of what is done to sound and text: decode, resample, mel, tokens.
#pragma once

#include <string>

#include "stoker/bench/selftest/selftest.h"

namespace stoker::bench {

// Each coded kind is written by libsndfile where it can, and read by us.
std::string check_decoding(const SelftestPlace& place);
std::string check_resampling(const SelftestPlace& place);
// Against direct sums in f64.
std::string check_mel(const SelftestPlace& place);
std::string check_text(const SelftestPlace& place);

}  // namespace stoker::bench
