#include "tests/cache/fault_loop.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "stoker/base/philox.h"
#include "stoker/cache/read/reader.h"
#include "tests/cache/format/shard_fixture.h"
#include "tests/cache/small_world.h"
#include "tests/doubles/write_list_io.h"

namespace stoker::cache {
namespace {

using Files = std::map<std::string, std::string>;

Files expected_files(const LoopOptions& options) {
  const TempFolder folder;
  SmallWorld world(system_io(), folder.path(), options.num_rows);
  world.write_sources();
  world.build();
  return files_of(world.cache_path());
}

// sources.bin holds times and inodes, which differ between two data folders, and the lock file may
// still name a holder that could not empty it.
Files cache_bytes(Files files) {
  files.erase("sources.bin");
  files.erase("lock");
  return files;
}

void note(LoopResult& result, std::uint64_t& counter, const std::string& problem) {
  ++counter;
  if (result.first_problem.empty()) result.first_problem = problem;
}

// Whatever a reader can open must be right, record by record. Gives the number of records.
std::size_t check_what_is_there(Io& io, const std::string& cache, const std::string& when,
                                LoopResult& result) {
  Result<Reader> reader = Reader::open(io, cache, {.mode = ReadMode::kPread});
  if (!reader) {
    if (reader.error().code->name != "E-CACHE-NONE")
      note(result, result.num_lost, when + ": " + error_line(reader.error()));
    return 0;
  }
  ReadScratch scratch;
  std::size_t num_records = 0;
  for (const RecordKind kind : {RecordKind::kMel, RecordKind::kTokens}) {
    for (std::size_t i = 0; i < reader->num_records(kind); ++i, ++num_records) {
      Result<RecordHeader> header = reader->check(reader->record(kind, i), scratch);
      if (!header) note(result, result.num_bad_accepted, when + ": " + error_line(header.error()));
    }
  }
  return num_records;
}

bool build_in_child(const std::string& root, const LoopOptions& options, std::uint64_t call) {
  const pid_t child = fork();
  if (child == 0) {
    FaultIo io;
    io.plan({.kind = Fault::Kind::kKill, .at_call = call});
    SmallWorld world(io, root, options.num_rows);
    world.build(options.num_workers);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

}  // namespace

LoopResult kill_at_every_call(const LoopOptions& options) {
  const Files expected = cache_bytes(expected_files(options));
  LoopResult result;
  const TempFolder folder;
  SmallWorld world(system_io(), folder.path(), options.num_rows);
  world.write_sources();
  for (std::uint64_t call = 1;; call += options.step) {
    std::filesystem::remove_all(world.cache_path());
    ++result.num_rounds;
    if (!build_in_child(folder.path(), options, call)) return result;
    ++result.num_broken;
    const std::string when = fmt::format("killed at call {}", call);
    const std::size_t committed =
        check_what_is_there(system_io(), world.cache_path(), when, result);
    const BuildReport report = world.build(options.num_workers);
    std::size_t reused = 0;
    for (const auto& [kind, counts] : report.kinds) reused += counts.reused;
    if (reused < committed) note(result, result.num_lost, when + ": committed records made again");
    if (cache_bytes(files_of(world.cache_path())) != expected)
      note(result, result.num_different, when + ": other bytes");
  }
}

LoopResult fail_at_every_call(const LoopOptions& options, Fault fault) {
  const Files expected = cache_bytes(expected_files(options));
  LoopResult result;
  const TempFolder folder;
  for (fault.at_call = 1;; fault.at_call += options.step) {
    FaultIo io;
    SmallWorld world(io, folder.path(), options.num_rows);
    world.write_sources();
    std::filesystem::remove_all(world.cache_path());
    io.plan(fault);
    ++result.num_rounds;
    const std::string when = fmt::format("fault at call {}", fault.at_call);
    std::optional<BuildReport> report;
    try {
      report = world.build(options.num_workers);
    } catch (const Failure&) {
      ++result.num_broken;
    }
    const bool struck = io.num_fired() > 0;
    io.clear_faults();
    check_what_is_there(system_io(), world.cache_path(), when, result);
    const bool complete = report && report->rejects.empty();
    if (complete && cache_bytes(files_of(world.cache_path())) != expected)
      note(result, result.num_false_success, when + ": success with other bytes");
    world.build(options.num_workers);
    if (cache_bytes(files_of(world.cache_path())) != expected)
      note(result, result.num_different, when + ": other bytes after the next build");
    if (!struck) return result;
  }
}

LoopResult cut_power(const LoopOptions& options, std::uint64_t num_seeds) {
  LoopResult result;
  WriteListIo disk;
  SmallWorld world(disk, "", options.num_rows);
  for (const std::string& id : world.rows.ids) disk.put_file("/data/" + id, "source of " + id);
  const std::size_t before = disk.num_steps();
  world.build(options.num_workers);
  const std::size_t after = disk.num_steps();
  const auto content = [&](Io& io, const std::string& name) {
    return static_cast<WriteListIo&>(io).content_of("/cache/" + name);
  };
  const std::vector<std::string> names{"manifest.json", "shard-00000.stk", "shard-00001.stk"};
  for (std::uint64_t seed = 0; seed < num_seeds; ++seed) {
    KeyedDraws draws({.seed = seed, .stage = "power cut", .epoch = 0, .item = 0});
    const std::size_t steps = before + draws.next_below(after - before + 1);
    const std::string when = fmt::format("seed {}, {} of {} steps", seed, steps, after);
    const std::unique_ptr<WriteListIo> left = disk.after_crash(steps, seed);
    ++result.num_rounds;
    FileInfo info;
    if (left->info_at(-100, "/cache", info).ok())
      check_what_is_there(*left, "/cache", when, result);
    SmallWorld again(*left, "", options.num_rows);
    again.build(options.num_workers);
    for (const std::string& name : names)
      if (content(*left, name) != content(disk, name))
        note(result, result.num_different, when + ": " + name);
  }
  return result;
}

}  // namespace stoker::cache
