// What a batch holds, as one .npz file that NumPy opens: for whoever wants to look inside.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/zip_store.h"
#include "stoker/feed/assembly/batch_slot.h"
#include "stoker/feed/batch.h"

namespace stoker::cli {

// "epoch-00003-batch-000017.npz": names in the order of the batches.
std::string batch_file_name(const feed::Batch& batch);

// Adds one array; throws E-SAVE-SIZE, with `file` as before, when it would reach 4 GiB.
void add_batch_array(ZipStore& file, std::string_view name, std::span<const std::byte> npy);

// The whole file (docs/guide/feed.md); memory for about two batches while it is made. Arrays on a
// GPU are copied back. Throws E-SAVE-SIZE for a batch of 4 GiB or more.
std::vector<std::byte> encode_batch_file(const feed::Batch& batch, const feed::BatchFormat& format);

}  // namespace stoker::cli
