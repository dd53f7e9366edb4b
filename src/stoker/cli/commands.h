// The list of command groups: each is one function in a file of its own that adds its subcommands.
#pragma once

#include <array>

namespace stoker::cli {

class Command;
class CommandContext;

using CommandGroup = void (*)(const Command& app, CommandContext& context);

void add_bench_mel_command(const Command& app, CommandContext& context);
void add_config_commands(const Command& app, CommandContext& context);
void add_bench_cache_command(const Command& app, CommandContext& context);
void add_bench_feed_command(const Command& app, CommandContext& context);
void add_bench_ops_command(const Command& app, CommandContext& context);
void add_bench_peers_command(const Command& app, CommandContext& context);
void add_bench_train_command(const Command& app, CommandContext& context);
void add_cache_commands(const Command& app, CommandContext& context);
void add_cache_import_command(const Command& app, CommandContext& context);
void add_completion_command(const Command& app, CommandContext& context);
void add_data_commands(const Command& app, CommandContext& context);
void add_data_make_command(const Command& app, CommandContext& context);
void add_demo_command(const Command& app, CommandContext& context);
void add_diagnose_command(const Command& app, CommandContext& context);
void add_report_command(const Command& app, CommandContext& context);
void add_recommend_command(const Command& app, CommandContext& context);
void add_selftest_command(const Command& app, CommandContext& context);
void add_features_command(const Command& app, CommandContext& context);
void add_monitor_command(const Command& app, CommandContext& context);
void add_stream_command(const Command& app, CommandContext& context);
void add_synthesize_command(const Command& app, CommandContext& context);
void add_text_command(const Command& app, CommandContext& context);
void add_profile_command(const Command& app, CommandContext& context);
void add_precompute_command(const Command& app, CommandContext& context);
void add_train_command(const Command& app, CommandContext& context);
void add_verify_command(const Command& app, CommandContext& context);

// In the order in which --help shows them.
inline constexpr auto kCommandGroups = std::to_array<CommandGroup>({
    &add_demo_command,      &add_data_make_command,    &add_data_commands,
    &add_text_command,      &add_features_command,     &add_stream_command,
    &add_train_command,     &add_synthesize_command,   &add_diagnose_command,
    &add_monitor_command,   &add_report_command,       &add_profile_command,
    &add_bench_mel_command, &add_bench_cache_command,  &add_bench_feed_command,
    &add_bench_ops_command, &add_bench_train_command,  &add_bench_peers_command,
    &add_cache_commands,    &add_cache_import_command, &add_precompute_command,
    &add_verify_command,    &add_config_commands,      &add_recommend_command,
    &add_selftest_command,  &add_completion_command,
});

}  // namespace stoker::cli
