#include "stoker/cache/maintain/export.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "stoker/cache/format/npy.h"
#include "tests/cache/format/shard_fixture.h"
#include "tests/cache/small_world.h"
#include "tests/doubles/fault_io.h"

namespace stoker::cache {
namespace {

namespace fs = std::filesystem;

std::size_t num_files(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) count += !entry.is_directory();
  return count;
}

TEST(ExportTest, AnIdThatLeavesTheFolderIsRefusedBeforeAnythingIsWritten) {
  for (const std::string& id : {std::string("../evil"), std::string("a/../../evil")}) {
    TempFolder temp;
    SmallWorld world(system_io(), temp.file("world"), 2);
    fs::create_directories(temp.file("world/data/a"));
    world.rows.ids = {id, "good"};
    world.rows.texts = {{id, "text"}, {"good", "text"}};
    world.write_sources();
    world.build();
    const Reader reader = Reader::open(system_io(), world.cache_path()).take_or_raise();
    const std::size_t before = num_files(temp.path());
    try {
      export_cache(reader, system_io(), temp.file("out"), {});
      FAIL() << id << " was exported";
    } catch (const StorageError& error) {
      EXPECT_EQ(error.error().code->name, "E-CACHE-NAME");
    }
    EXPECT_EQ(num_files(temp.path()), before) << id;
  }
}

// At whatever call it ends, a final name means a whole file.
TEST(ExportTest, AnExportThatEndsAtAnyCallLeavesOnlyWholeFilesUnderTheirNames) {
  TempFolder temp;
  SmallWorld world(system_io(), temp.file("world"), 3);
  world.write_sources();
  world.build();
  const Reader reader = Reader::open(system_io(), world.cache_path()).take_or_raise();
  for (std::uint64_t call = 1;; ++call) {
    FaultIo io;
    io.plan(
        {.at_call = call,
         .calls = {IoCall::kOpen, IoCall::kWrite, IoCall::kClose, IoCall::kRename, IoCall::kUnlink},
         .repeat = Fault::Repeat::kFromThenOn,
         .error_number = EIO});
    fs::remove_all(temp.file("out"));
    try {
      export_cache(reader, io, temp.file("out"), {});
    } catch (const std::exception&) {
      // As it must.
    }
    if (fs::exists(temp.file("out")))
      for (const auto& entry : fs::recursive_directory_iterator(temp.file("out"))) {
        if (entry.path().extension() != ".npy") continue;
        EXPECT_TRUE(decode_npy(entry.path().string(), bytes_of_file(entry.path().string())).ok())
            << entry.path() << " at call " << call;
      }
    if (io.num_fired() == 0) break;
  }
  EXPECT_EQ(num_files(temp.file("out")), 6U);
}

TEST(ExportTest, WhatAKilledExportLeftIsRemovedByTheNext) {
  TempFolder temp;
  SmallWorld world(system_io(), temp.file("world"), 1);
  world.write_sources();
  world.build();
  fs::create_directories(temp.file("out/mel"));
  write_bytes(temp.file("out/mel/u000.npy.tmp.0123456789abcdef"), {});
  export_cache(Reader::open(system_io(), world.cache_path()).take_or_raise(), system_io(),
               temp.file("out"), {});
  EXPECT_EQ(num_files(temp.file("out")), 2U);
}

}  // namespace
}  // namespace stoker::cache
