// Sources that leave out one part of the reading: what the rest alone can do.
#pragma once

#include <memory>

#include "stoker/feed/source/utterance_source.h"
#include "stoker/observe/diagnose/evidence.h"

namespace stoker::observe {

// `part`: kNoMel loads the samples and makes nothing of them, kNoText has tokens of 0, kInstant
// reads nothing, kMemory copies mels from memory instead. Rows have their true lengths, their
// values are whatever the memory holds.
std::shared_ptr<const feed::UtteranceSource> without_part(
    std::shared_ptr<const feed::UtteranceSource> source, RunKind part);

}  // namespace stoker::observe
