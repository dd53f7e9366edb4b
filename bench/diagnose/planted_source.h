// Utterances with a planted stage: more processor time, waiting, or a lock that all workers share.
#pragma once

#include <memory>

#include "bench/diagnose/plan.h"
#include "stoker/feed/source/utterance_source.h"

namespace stoker::bench {

// Throws std::invalid_argument for a stage that is none.
std::shared_ptr<const feed::UtteranceSource> plant_stage(
    std::shared_ptr<const feed::UtteranceSource> inner, const StagePlan& plan);

// Uses a core for so long.
void burn_cpu(double seconds);

}  // namespace stoker::bench
