// machine.jsonl: whole lines after a kill and a full disk, a bound for long runs, and only what is
// known.
#include "stoker/observe/machine/machine_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::observe {
namespace {

using Earlier = MachineLog::Earlier;

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(MachineLogTest, ALineHasWhatIsKnownAndNothingElse) {
  MachineWindow window;
  window.cpu.num_allowed_cores = 4;
  window.cpu.own_cores = 1.5;
  window.storage.own_read_bytes_per_s = 2e6;
  const Json plain = machine_line(window, {.at_ns = 5, .unix_ns = 1'700'000'000'500'000'000});
  EXPECT_EQ(plain.dump(), R"({"at_ns":5,"unix_s":1700000000.5,"own_cores":1.5,"cores_allowed":4,)"
                          R"("disk_read_bytes_per_s":2000000.0})");
  window.gpu.emplace();
  window.gpu->utilization_percent = 97;
  window.gpu->memory_used_bytes = 10;
  window.gpu->memory_total_bytes = 20;
  window.gpu->power_w = 300;
  window.gpu->clock_mhz = 1980;
  window.gpu->temperature_c = 61;
  window.gpu->throttled_share = 0.5;
  window.cpu.busy_cores = 3;
  window.cpu.other_cores = 1;
  window.storage.device_read_bytes_per_s = 3e6;
  window.storage.device_busy_share = 0.25;
  window.memory.available_bytes = 7;
  const Json full = machine_line(window, {.num_ready = 3});
  for (const char* key :
       {"gpu_percent", "gpu_memory_bytes", "gpu_memory_total_bytes", "gpu_power_w", "gpu_clock_mhz",
        "gpu_temperature_c", "gpu_throttled", "cpu_cores", "own_cores", "other_cores",
        "cores_allowed", "disk_read_bytes_per_s", "disk_busy_share", "memory_available_bytes",
        "ready_batches"})
    EXPECT_TRUE(full.contains(key)) << key;
  EXPECT_EQ(full.at("disk_read_bytes_per_s").number(), 3e6) << "of the device where it is known";
  EXPECT_EQ(full.at("gpu_throttled").dump(), "true");
}

TEST(MachineLogTest, LinesAreReadBackAndWhatIsNoneIsLeftOut) {
  const ScratchFolder scratch;
  MachineWindow window;
  window.cpu.own_cores = 1.5;
  window.gpu.emplace();
  window.gpu->utilization_percent = 97;
  scratch.put("machine.jsonl", machine_line(window, {.at_ns = 7}).dump() +
                                   "\nnonsense\n{\"at_ns\":\"x\"}\n{}\n{\"at_ns\":9}\n{\"at");
  const auto found = read_machine_log(system_io(), scratch / "machine.jsonl").take_or_raise();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at_ns, 7);
  EXPECT_EQ(found[0].window.cpu.own_cores, 1.5);
  EXPECT_EQ(found[0].window.gpu->utilization_percent, 97);
  EXPECT_FALSE(found[1].window.cpu.own_cores.has_value());
  EXPECT_FALSE(read_machine_log(system_io(), scratch / "none").ok());
}

TEST(MachineLogTest, GoesOnBehindTheLastWholeLine) {
  const ScratchFolder scratch;
  const std::string path = scratch / "machine.jsonl";
  scratch.put("machine.jsonl", "{\"a\":1}\n{\"a\":2}\n{\"a\":");
  MachineLog::open(system_io(), path, Earlier::kGoOn)
      .take_or_raise()
      .append(Json{{"a", 3}})
      .take_or_raise();
  EXPECT_EQ(lines_of(path), (std::vector<std::string>{"{\"a\":1}", "{\"a\":2}", "{\"a\":3}"}));
  MachineLog::open(system_io(), path, Earlier::kDrop)
      .take_or_raise()
      .append(Json{{"a", 4}})
      .take_or_raise();
  EXPECT_EQ(lines_of(path), std::vector<std::string>{"{\"a\":4}"});
}

TEST(MachineLogTest, AWeekNeedsNoMoreLinesThanTheBound) {
  const ScratchFolder scratch;
  const std::string path = scratch / "machine.jsonl";
  MachineLog log = MachineLog::open(system_io(), path, Earlier::kDrop, 64).take_or_raise();
  int at = 0;
  for (int i = 0; i < 400; ++i) {
    at += static_cast<int>(log.stride());
    log.append(Json{{"at", at}}).take_or_raise();
    ASSERT_LE(lines_of(path).size(), 64U);
  }
  EXPECT_GE(log.stride(), 8U);
  const std::vector<std::string> lines = lines_of(path);
  EXPECT_EQ(lines.back(), Json({{"at", at}}).dump()) << "the newest stays";
  ASSERT_GT(lines.size(), 30U);
  const double first = Json::parse(lines.front()).value().at("at").number();
  EXPECT_LE(first, log.stride()) << "the beginning stays, too";
  double before = 0;
  for (const std::string& line : lines) {
    const double here = Json::parse(line).value().at("at").number();
    EXPECT_GT(here, before);
    before = here;
  }
}

TEST(MachineLogTest, AFullDiskLeavesWholeLines) {
  const ScratchFolder scratch;
  FaultIo io;
  io.plan({.kind = Fault::Kind::kShort, .at_call = 2, .calls = {IoCall::kWrite}});
  io.plan({.at_call = 3, .calls = {IoCall::kWrite}, .error_number = ENOSPC});
  const std::string path = scratch / "machine.jsonl";
  MachineLog log = MachineLog::open(io, path, Earlier::kDrop).take_or_raise();
  log.append(Json{{"a", 1}}).take_or_raise();
  EXPECT_FALSE(log.append(Json{{"a", 2}}).ok()) << "half a line, then no room";
  EXPECT_EQ(lines_of(path), std::vector<std::string>{"{\"a\":1}"});
  log.append(Json{{"a", 3}}).take_or_raise();
  EXPECT_EQ(lines_of(path), (std::vector<std::string>{"{\"a\":1}", "{\"a\":3}"}));
}

}  // namespace
}  // namespace stoker::observe
