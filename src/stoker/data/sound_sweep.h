// Checks the sound files of all rows with several threads; the result does not depend on how many.
#pragma once

#include <span>
#include <stop_token>
#include <string>

#include "stoker/base/io/io.h"
#include "stoker/data/account.h"
#include "stoker/data/index_options.h"
#include "stoker/data/row_intake.h"

namespace stoker::data {

struct SweptSource {
  const File* root = nullptr;
  std::string metadata_file;  // for messages
};

// Fills in samples and rates, sets the state of rows that cannot be used, and keeps the account.
// `sources` are by number. Throws when it is stopped, or when memory or file handles run out.
void sweep_sounds(RowTable& rows, std::span<const SweptSource> sources, const IndexOptions& options,
                  Account& account, std::stop_token stop);

}  // namespace stoker::data
