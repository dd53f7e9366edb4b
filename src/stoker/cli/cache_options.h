// Options and words that the commands around the cache share.
#pragma once

#include <string>

#include "stoker/cache/build/precompute.h"

namespace stoker::cli {

class Command;
class CommandContext;

// --data --cache --preset --num-workers and the settings that decide what a cache holds.
void add_cache_options(const Command& command, CommandContext& context);

// Threads for building and checking: data.num_workers, auto = cores allowed, at least one.
unsigned cache_workers(CommandContext& context);

// The folder that --cache or the data set's settings name, without reading the data set when
// --cache is given.
std::string cache_folder(CommandContext& context);

// Throws the usage error of a command that needs --data.
void require_data(CommandContext& context, const char* why);

}  // namespace stoker::cli
