// The page of the format against the structures: every field with its offset and size, and none
// that the page has and the code has not.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <string>

#include "stoker/feed/records/record_format.h"

namespace stoker::feed {
namespace {

struct Place {
  std::size_t offset = 0;
  std::size_t num_bytes = 0;
  bool operator==(const Place&) const = default;
};
using Fields = std::map<std::string, Place>;

#define STOKER_FIELD(Type, name)                        \
  {                                                     \
#name, { offsetof(Type, name), sizeof(Type::name) } \
  }

Fields head_fields() {
  return {STOKER_FIELD(RecordFileHead, magic),         STOKER_FIELD(RecordFileHead, version),
          STOKER_FIELD(RecordFileHead, header_bytes),  STOKER_FIELD(RecordFileHead, record_bytes),
          STOKER_FIELD(RecordFileHead, place_bytes),   STOKER_FIELD(RecordFileHead, num_places),
          STOKER_FIELD(RecordFileHead, num_kept),      STOKER_FIELD(RecordFileHead, begin_ns),
          STOKER_FIELD(RecordFileHead, begin_unix_ns), STOKER_FIELD(RecordFileHead, pid),
          STOKER_FIELD(RecordFileHead, num_stages),    STOKER_FIELD(RecordFileHead, num_works),
          STOKER_FIELD(RecordFileHead, checksum),      STOKER_FIELD(RecordFileHead, num_written),
          STOKER_FIELD(RecordFileHead, has_ended),     STOKER_FIELD(RecordFileHead, stages),
          STOKER_FIELD(RecordFileHead, works)};
}

Fields record_fields() {
  return {STOKER_FIELD(BatchRecord, number),
          STOKER_FIELD(BatchRecord, epoch),
          STOKER_FIELD(BatchRecord, batch),
          STOKER_FIELD(BatchRecord, shape),
          STOKER_FIELD(BatchRecord, num_rows),
          STOKER_FIELD(BatchRecord, num_frames),
          STOKER_FIELD(BatchRecord, padded_frames),
          STOKER_FIELD(BatchRecord, num_tokens),
          STOKER_FIELD(BatchRecord, worker),
          STOKER_FIELD(BatchRecord, core),
          STOKER_FIELD(BatchRecord, num_ready),
          STOKER_FIELD(BatchRecord, num_held),
          STOKER_FIELD(BatchRecord, num_workers),
          STOKER_FIELD(BatchRecord, stages),
          STOKER_FIELD(BatchRecord, worker_cpu_ns),
          STOKER_FIELD(BatchRecord, bytes_read),
          STOKER_FIELD(BatchRecord, num_cache_hits),
          STOKER_FIELD(BatchRecord, num_cache_misses),
          STOKER_FIELD(BatchRecord, num_minor_faults),
          STOKER_FIELD(BatchRecord, num_major_faults),
          STOKER_FIELD(BatchRecord, asked_ns),
          STOKER_FIELD(BatchRecord, handed_ns),
          STOKER_FIELD(BatchRecord, released_ns),
          STOKER_FIELD(BatchRecord, consumer_cpu_ns),
          STOKER_FIELD(BatchRecord, works_ns),
          STOKER_FIELD(BatchRecord, slowest_ns),
          STOKER_FIELD(BatchRecord, slowest_utterance),
          STOKER_FIELD(BatchRecord, slowest_stage),
          STOKER_FIELD(BatchRecord, slowest_file),
          STOKER_FIELD(BatchRecord, gpu_was_busy)};
}

#undef STOKER_FIELD

// The rows of the table under a heading.
Fields page_fields(const std::string& heading) {
  std::ifstream page(STOKER_SOURCE_DIR "/docs/format/records.md");
  const std::regex row(R"(\| `(\w+)` \| (\d+) \| (\d+) \|.*)");
  Fields found;
  bool is_inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) is_inside = line == "## " + heading;
    std::smatch parts;
    if (is_inside && std::regex_match(line, parts, row))
      found[parts[1]] = {std::stoul(parts[2]), std::stoul(parts[3])};
  }
  return found;
}

// Every byte of the record belongs to a field.
TEST(RecordsPageTest, TheFieldsCoverTheRecord) {
  std::size_t sum = 0;
  for (const auto& [name, place] : record_fields()) sum += place.num_bytes;
  EXPECT_EQ(sum, sizeof(BatchRecord));
}

TEST(RecordsPageTest, ThePageHasTheOffsetsOfTheStructures) {
  const auto compare = [](const Fields& page, const Fields& code) {
    EXPECT_EQ(page.size(), code.size());
    for (const auto& [name, place] : code) {
      ASSERT_TRUE(page.contains(name)) << name;
      EXPECT_EQ(page.at(name).offset, place.offset) << name;
      EXPECT_EQ(page.at(name).num_bytes, place.num_bytes) << name;
    }
  };
  compare(page_fields("Header"), head_fields());
  compare(page_fields("Record"), record_fields());
}

TEST(RecordsPageTest, ThePageHasTheSizesAndNames) {
  std::ifstream page(STOKER_SOURCE_DIR "/docs/format/records.md");
  const std::string text(std::istreambuf_iterator<char>(page), {});
  const auto says = [&](const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << words;
  };
  says("| `record_bytes` | 16 | 4 | " + std::to_string(sizeof(BatchRecord)));
  says("| `place_bytes` | 20 | 4 | " + std::to_string(kRecordPlaceBytes));
  says("| `version` | 8 | 4 | " + std::to_string(kRecordVersion));
  for (std::size_t i = 0; i < kNumRecordStages; ++i)
    says("`" + std::string(name_of(static_cast<RecordStage>(i))) + "`");
  for (std::size_t i = 0; i < kNumConsumerWorks; ++i)
    says("`" + std::string(name_of(static_cast<ConsumerWork>(i))) + "`");
}

}  // namespace
}  // namespace stoker::feed
