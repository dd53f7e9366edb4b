// Traces as files: the format that the suffix says, whole at every moment, and no more after a
// failure.
#include "stoker/observe/trace/trace_writer.h"

#include <gmock/gmock.h>

#include "stoker/base/bytes.h"
#include "stoker/base/json.h"
#include "tests/doubles/fault_io.h"
#include "tests/doubles/scratch_folder.h"
#include "tests/observe/trace/made_batches.h"

namespace stoker::observe {
namespace {

constexpr TraceHead kHead{.pid = 7, .begin_ns = kStartNs, .begin_unix_ns = 1'700'000'000};

std::size_t num_named(const Json& trace, const std::string& name) {
  std::size_t count = 0;
  for (const Json& event : trace.at("traceEvents").elements())
    count += event.at("name").text() == name ? 1 : 0;
  return count;
}

// Reads the fields of a message one after the other.
struct Field {
  std::uint64_t number = 0, kind = 0, value = 0;
  std::string_view bytes{};
};
std::uint64_t take_varint(std::string_view& from) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) break;
  }
  return value;
}
Field take_field(std::string_view& from) {
  const std::uint64_t tag = take_varint(from);
  Field field{.number = tag >> 3U, .kind = tag & 7U};
  if (field.kind == 0) {
    field.value = take_varint(from);
    return field;
  }
  const std::size_t size = field.kind == 1 ? 8 : take_varint(from);
  field.bytes = from.substr(0, size);
  EXPECT_EQ(field.bytes.size(), size) << "a message is cut";
  from.remove_prefix(std::min(size, from.size()));
  return field;
}

TEST(TraceWriterTest, TheSuffixSaysTheFormat) {
  EXPECT_EQ(trace_format_of("a.json"), TraceFormat::kChrome);
  EXPECT_EQ(trace_format_of("a.json.gz"), TraceFormat::kChromeGzip);
  EXPECT_EQ(trace_format_of("a.pftrace"), TraceFormat::kPerfetto);
  EXPECT_EQ(trace_format_of("a.perfetto-trace"), TraceFormat::kPerfetto);
  EXPECT_EQ(trace_format_of("-"), TraceFormat::kPerfetto);
}

TEST(TraceWriterTest, ChromesJsonIsWholeAfterEveryFlush) {
  const ScratchFolder scratch;
  const std::string path = scratch / "t.json";
  TraceWriter writer = TraceWriter::open(system_io(), path, kHead).take_or_raise();
  ASSERT_TRUE(Json::parse(content_of(path)).has_value()) << content_of(path);
  for (std::uint64_t i = 0; i < 3; ++i) {
    writer.batches().add(made_batch(i));
    writer.flush();
    const std::optional<Json> trace = Json::parse(content_of(path));
    ASSERT_TRUE(trace.has_value());
    EXPECT_EQ(num_named(*trace, "wait"), i + 1);
    EXPECT_EQ(num_named(*trace, "step"), i) << "ends with the next batch";
  }
  writer.finish().take_or_raise();
  EXPECT_EQ(num_named(*Json::parse(content_of(path)), "step"), 3U);
}

TEST(TraceWriterTest, ChromesTimesAreMicrosecondsToTheNanosecond) {
  const ScratchFolder scratch;
  TraceWriter writer = TraceWriter::open(system_io(), scratch / "t.json", kHead).take_or_raise();
  feed::BatchRecord record = made_batch(0);
  record.asked_ns = 1'000'000'007;
  record.handed_ns = 1'000'002'010;
  writer.batches().add(record);
  writer.finish().take_or_raise();
  EXPECT_THAT(content_of(scratch / "t.json"),
              testing::HasSubstr(R"("ts":1000000.007,"dur":2.003)"));
}

// Wherever a kill cuts, what was flushed is a row of whole packets.
TEST(TraceWriterTest, PerfettosPacketsAreWholeAfterEveryFlush) {
  const ScratchFolder scratch;
  const std::string path = scratch / "t.pftrace";
  TraceWriter writer = TraceWriter::open(system_io(), path, kHead).take_or_raise();
  std::size_t num_before = 0;
  for (std::uint64_t i = 0; i < 3; ++i) {
    writer.batches().add(made_batch(i));
    writer.flush();
    const std::string content = content_of(path);
    std::string_view rest = content;
    std::size_t num_packets = 0;
    for (; !rest.empty(); ++num_packets) {
      const Field packet = take_field(rest);
      ASSERT_EQ(packet.number, 1U);
      ASSERT_EQ(packet.kind, 2U);
    }
    EXPECT_GT(num_packets, num_before + 8);
    num_before = num_packets;
  }
}

TEST(TraceWriterTest, AFailureEndsTheTraceAndIsKept) {
  const ScratchFolder scratch;
  FaultIo io;
  io.plan({.at_call = 2,
           .calls = {IoCall::kWrite},
           .repeat = Fault::Repeat::kFromThenOn,
           .error_number = ENOSPC});
  TraceWriter writer = TraceWriter::open(io, scratch / "t.pftrace", kHead).take_or_raise();
  writer.batches().add(made_batch(0));
  writer.flush();
  ASSERT_TRUE(writer.failure().has_value());
  EXPECT_EQ(writer.failure()->place.file, scratch / "t.pftrace");
  const Result<void> ended = writer.finish();
  EXPECT_FALSE(ended.ok());
  EXPECT_FALSE(TraceWriter::open(system_io(), scratch.path(), kHead).ok()) << "a folder";
}

TEST(TraceWriterTest, ASinkGetsTheSameBytesAsAFile) {
  const ScratchFolder scratch;
  for (const std::string name : {"t.json", "t.pftrace", "t.json.gz"}) {
    std::string got;
    TraceWriter to_sink(
        [&got](std::span<const std::byte> part) -> Result<void> {
          got += view_text(part);
          return {};
        },
        trace_format_of(name), kHead);
    TraceWriter to_file = TraceWriter::open(system_io(), scratch / name, kHead).take_or_raise();
    to_sink.flush();
    for (TraceWriter* writer : {&to_sink, &to_file}) {
      writer->batches().add(made_batch(0));
      writer->finish().take_or_raise();
    }
    EXPECT_EQ(got, content_of(scratch / name)) << name;
    EXPECT_EQ(to_sink.num_bytes(), got.size());
    EXPECT_EQ(to_file.num_bytes(), got.size());
  }
}

}  // namespace
}  // namespace stoker::observe
