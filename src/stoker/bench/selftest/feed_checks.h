// Checks of storage, cache and feed: round trips, what a fault looks like, and equal bytes whatever
// the workers do.
#pragma once

#include <string>

#include "stoker/bench/selftest/selftest.h"
#include "stoker/config/settings.h"

namespace stoker::bench {

std::string check_folder(const SelftestPlace& place);
std::string check_voice(const SelftestPlace& place);
// Builds, verifies, changes one byte and looks whether that is found.
std::string check_cache(const SelftestPlace& place);
std::string check_workers(const SelftestPlace& place);
// A feed that is dropped in the middle, and another that goes on from its state.
std::string check_resume(const SelftestPlace& place);
// How even the batches come to a consumer that has time, beside the same from memory.
std::string check_stability(const SelftestPlace& place);

// The data set that check_voice() made, read from the cache that check_cache() built.
config::Settings selftest_settings(const SelftestPlace& place);

}  // namespace stoker::bench
