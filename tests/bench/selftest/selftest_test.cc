// The self-test with planted faults: a check that fails or throws is a line, and the others run.
#include "stoker/bench/selftest/selftest.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <stdexcept>

#include "stoker/bench/errors.h"
#include "stoker/cuda/device_probe.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker::bench {
namespace {

using testing::HasSubstr;

const CheckOutcome& named(const std::vector<CheckOutcome>& outcomes, const std::string& name) {
  for (const CheckOutcome& each : outcomes)
    if (each.name == name) return each;
  throw std::out_of_range(name);
}

TEST(SelftestTest, EveryCheckOfTheProcessorPassesHere) {
  const ScratchFolder folder;
  std::vector<SelfCheck> checks = host_checks();
  std::erase_if(checks, [](const SelfCheck& each) { return each.name == "stability"; });
  const std::string own = folder / "own";
  const auto outcomes = run_selftest({.place = {.folder = own}, .checks = checks});
  ASSERT_EQ(outcomes.size(), checks.size());
  for (const CheckOutcome& each : outcomes) {
    EXPECT_TRUE(each.is_ok) << each.name << ": " << each.figure;
    EXPECT_FALSE(each.figure.empty()) << each.name;
    EXPECT_TRUE(each.cure.empty()) << each.name;
  }
  EXPECT_THAT(named(outcomes, "decode").figure, HasSubstr("flac"));
  EXPECT_THAT(named(outcomes, "cache").figure, HasSubstr("a changed byte was found"));
  EXPECT_FALSE(std::filesystem::exists(own)) << "nothing stays";
}

TEST(SelftestTest, AFullDiskFailsItsCheckAndNotTheOthers) {
  const ScratchFolder folder;
  FaultIo io;
  io.plan(
      {.calls = {IoCall::kWrite}, .repeat = Fault::Repeat::kFromThenOn, .error_number = ENOSPC});
  const auto outcomes =
      run_selftest({.place = {.folder = folder / "own", .io = &io}, .checks = host_checks()});
  ASSERT_EQ(outcomes.size(), host_checks().size()) << "all of them run";
  const CheckOutcome& scratch = named(outcomes, "scratch folder");
  EXPECT_FALSE(scratch.is_ok);
  EXPECT_THAT(scratch.cure, HasSubstr("TMPDIR"));
  EXPECT_FALSE(named(outcomes, "cache").is_ok);
  EXPECT_TRUE(named(outcomes, "mel").is_ok) << named(outcomes, "mel").figure;
  EXPECT_TRUE(named(outcomes, "text").is_ok);
}

// Bytes that change on their way to the disk are what a checksum is for.
TEST(SelftestTest, AByteThatTheDiskChangesIsFound) {
  const ScratchFolder folder;
  FaultIo io;
  io.plan({.kind = Fault::Kind::kFlip,
           .calls = {IoCall::kWrite},
           .repeat = Fault::Repeat::kFromThenOn});
  const auto outcomes = run_selftest(
      {.place = {.folder = folder / "own", .io = &io}, .checks = {host_checks().front()}});
  EXPECT_FALSE(outcomes.front().is_ok);
  EXPECT_THAT(outcomes.front().figure, HasSubstr("the bytes that were written"));
}

TEST(SelftestTest, WhateverACheckThrowsIsALine) {
  const auto throws = [](const SelftestPlace&) -> std::string { throw std::logic_error("odd"); };
  const auto finds = [](const SelftestPlace&) -> std::string {
    expect(false, "one", "two");
    return "";
  };
  const auto starves = [](const SelftestPlace&) -> std::string { throw std::bad_alloc(); };
  std::vector<std::string> told;
  const auto outcomes =
      run_selftest({.place = {},
                    .checks = {{"a", throws, ""}, {"b", finds, "do this"}, {"c", starves, ""}},
                    .on_check = [&](const CheckOutcome& each) { told.push_back(each.name); }});
  EXPECT_THAT(told, testing::ElementsAre("a", "b", "c"));
  EXPECT_EQ(outcomes[0].figure, "odd");
  EXPECT_THAT(outcomes[1].figure, HasSubstr("expected one, found two"));
  EXPECT_EQ(outcomes[1].cure, "do this");
  EXPECT_THAT(outcomes[2].cure, HasSubstr("memory limit"));
  for (const CheckOutcome& each : outcomes) EXPECT_FALSE(each.cure.empty()) << each.name;
}

TEST(SelftestTest, WithoutAGpuItsChecksFailWithTheReason) {
  if (!cuda::probe_devices().devices.empty()) GTEST_SKIP() << "there is a GPU";
  for (const CheckOutcome& each : run_selftest({.place = {}, .checks = gpu_checks()})) {
    EXPECT_FALSE(each.is_ok) << each.name;
    EXPECT_THAT(each.figure, HasSubstr("no GPU")) << each.name;
    EXPECT_FALSE(each.cure.empty()) << each.name;
  }
}

TEST(SelftestTest, AStopEndsIt) {
  std::stop_source stop;
  const auto stops = [&](const SelftestPlace&) -> std::string {
    stop.request_stop();
    return "done";
  };
  const auto outcomes = run_selftest(
      {.place = {.stop = stop.get_token()}, .checks = {{"a", stops, ""}, {"b", stops, ""}}});
  EXPECT_EQ(outcomes.size(), 1U);
}

}  // namespace
}  // namespace stoker::bench
