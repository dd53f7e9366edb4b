// Finds transcripts that cannot belong to their recording: characters per second far from usual.
#pragma once

#include "stoker/data/account.h"
#include "stoker/data/utterance.h"

namespace stoker::data {

// Warns (E-DATA-PACE) of rows more than `factor` times faster or slower than the median row, and of
// rows no voice could speak.
void warn_of_pace(const UtteranceTable& rows, double factor, Account& account);

}  // namespace stoker::data
