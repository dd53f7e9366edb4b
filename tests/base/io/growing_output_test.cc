// A result that grows: whole after every append, as it was after one that fails.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "stoker/base/bytes.h"
#include "stoker/base/io/gzip.h"
#include "stoker/base/io/output_file.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

void append(GrowingOutput& output, std::string_view text, std::string_view ending = {}) {
  output.append(view_bytes(text), view_bytes(ending)).take_or_raise();
}

TEST(GrowingOutputTest, TheEndingFollowsWhateverIsThere) {
  const ScratchFolder scratch;
  const std::string path = scratch / "new/trace.json";
  GrowingOutput output = GrowingOutput::open(system_io(), path).take_or_raise();
  append(output, "[1", "]");
  EXPECT_EQ(content_of(path), "[1]");
  append(output, ",2", "]");
  EXPECT_EQ(content_of(path), "[1,2]");
  EXPECT_EQ(output.size_bytes(), 4U);
  append(output, "", "");
  EXPECT_EQ(content_of(path), "[1,2") << "an ending that became shorter";
  output.finish(view_bytes("]\n")).take_or_raise();
  EXPECT_EQ(content_of(path), "[1,2]\n");
}

TEST(GrowingOutputTest, WhatWasInTheFileIsGoneAndALinkStays) {
  const ScratchFolder scratch;
  scratch.put("old.bin", "something long");
  fs::create_symlink("old.bin", scratch / "link.bin");
  GrowingOutput output = GrowingOutput::open(system_io(), scratch / "link.bin").take_or_raise();
  EXPECT_EQ(content_of(scratch / "old.bin"), "");
  append(output, "new");
  EXPECT_EQ(content_of(scratch / "old.bin"), "new");
  EXPECT_TRUE(fs::is_symlink(scratch / "link.bin"));
}

TEST(GrowingOutputTest, AFullDiskLeavesTheFileAsItWas) {
  const ScratchFolder scratch;
  FaultIo io;
  io.plan({.at_call = 2, .calls = {IoCall::kWrite}, .error_number = ENOSPC});
  GrowingOutput output = GrowingOutput::open(io, scratch / "trace.json").take_or_raise();
  append(output, "[1", "]");
  const Result<void> full = output.append(view_bytes(",2"), view_bytes("]"));
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().place.file, scratch / "trace.json");
  EXPECT_EQ(content_of(scratch / "trace.json"), "[1]");
  append(output, ",3", "]");
  EXPECT_EQ(content_of(scratch / "trace.json"), "[1,3]");
}

TEST(GrowingOutputTest, APipeGetsTheEndingOnce) {
  const ScratchFolder scratch;
  const std::string path = scratch / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(GrowingOutput::open(system_io(), path).ok()) << "nobody reads it";
  std::string got;
  const int reading = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  GrowingOutput output = GrowingOutput::open(system_io(), path).take_or_raise();
  append(output, "[1", "]");
  append(output, ",2", "]");
  output.finish(view_bytes("]")).take_or_raise();
  char buffer[64];
  const ssize_t count = ::read(reading, buffer, sizeof buffer);
  ::close(reading);
  ASSERT_GT(count, 0);
  EXPECT_EQ(std::string(buffer, static_cast<std::size_t>(count)), "[1,2]");
}

TEST(GrowingOutputTest, AFolderIsRefused) {
  const ScratchFolder scratch;
  EXPECT_FALSE(GrowingOutput::open(system_io(), scratch.path()).ok());
  EXPECT_FALSE(GrowingOutput::open(system_io(), scratch / "new/").ok());
}

// As gunzip reads a file: member after member.
std::string unpacked(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string text(1'000'000, '\0');
  const int count = gzread(file, text.data(), static_cast<unsigned>(text.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  text.resize(static_cast<std::size_t>(std::max(count, 0)));
  return text;
}

TEST(GzipTest, MembersFollowEachOtherInOneFile) {
  const ScratchFolder scratch;
  const std::string many(300'000, 'x');
  std::ofstream(scratch / "a.gz", std::ios::binary)
      << gzip_member("one,") << gzip_member(many) << gzip_member("");
  EXPECT_EQ(unpacked(scratch / "a.gz"), "one," + many);
  EXPECT_LT(fs::file_size(scratch / "a.gz"), 3000U);
}

}  // namespace
}  // namespace stoker
