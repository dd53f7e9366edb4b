// The layout of a ring of records, as docs/format/records.md says: a header, then places of fixed
// size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stoker/feed/records/batch_record.h"

namespace stoker::feed {

inline constexpr std::array<char, 8> kRecordMagic{'S', 'T', 'K', 'R', 'E', 'C', 'S', '\n'};
inline constexpr std::uint32_t kRecordVersion = 2;
inline constexpr std::uint32_t kRecordHeaderBytes = 4096;
inline constexpr std::uint32_t kRecordPlaceBytes = 640;
// The last so many records are whole; places beyond them are for batches that are not handed out
// yet.
inline constexpr std::uint32_t kRecordsKept = 4096;
struct RingSize {
  std::uint32_t num_ahead = 0;  // batches that may be filled or on their way to the consumer
  std::uint32_t num_kept = kRecordsKept;

  std::uint32_t num_places() const { return num_kept + num_ahead; }
  std::size_t num_bytes() const {
    return kRecordHeaderBytes + std::size_t{num_places()} * kRecordPlaceBytes;
  }
};
inline constexpr std::size_t kRecordNameBytes = 16;
using RecordName = std::array<char, kRecordNameBytes>;  // ends with 0

// The front of the file. Everything but the two words in the middle is constant.
struct RecordFileHead {
  std::array<char, 8> magic = kRecordMagic;
  std::uint32_t version = kRecordVersion;
  std::uint32_t header_bytes = kRecordHeaderBytes;
  std::uint32_t record_bytes = sizeof(BatchRecord);
  std::uint32_t place_bytes = kRecordPlaceBytes;
  std::uint32_t num_places = 0;
  std::uint32_t num_kept = kRecordsKept;
  std::int64_t begin_ns = 0;       // steady clock
  std::int64_t begin_unix_ns = 0;  // wall clock, at the same moment
  std::int32_t pid = 0;
  std::uint32_t num_stages = kNumRecordStages;
  std::uint32_t num_works = kNumConsumerWorks;
  std::uint32_t checksum = 0;  // CRC-32C of the bytes before it and of `stages` and `works`

  std::uint64_t num_written = 0;  // batches handed out: numbers below it have a record
  std::uint64_t has_ended = 0;    // 1 once the feed was closed
  std::array<std::uint64_t, 6> unused{};

  std::array<RecordName, kNumRecordStages> stages{};
  std::array<RecordName, kNumConsumerWorks> works{};
};
static_assert(offsetof(RecordFileHead, checksum) == 60);
static_assert(offsetof(RecordFileHead, num_written) == 64);
static_assert(offsetof(RecordFileHead, stages) == 128);
static_assert(sizeof(RecordFileHead) <= kRecordHeaderBytes);

// A place begins with its mark: twice the record's number plus two, one more while it is written;
// 0 where nothing was ever written. The record follows.
inline constexpr std::size_t kRecordWords = sizeof(BatchRecord) / sizeof(std::uint64_t);
static_assert(sizeof(BatchRecord) % sizeof(std::uint64_t) == 0);
static_assert(sizeof(std::uint64_t) + sizeof(BatchRecord) <= kRecordPlaceBytes);
using RecordWords = std::array<std::uint64_t, kRecordWords>;

constexpr std::uint64_t mark_of(std::uint64_t number) { return 2 * number + 2; }
inline constexpr std::uint64_t kMarkBusy = 1;

// What released_ns is until the batch is given back: below 0 and different for each number, so that
// a batch that is held until its place is used again cannot write into the record of another.
constexpr std::int64_t unreleased(std::uint64_t number) {
  return -1 - static_cast<std::int64_t>(number);
}

constexpr std::size_t word_at(std::size_t offset_bytes) {
  return offset_bytes / sizeof(std::uint64_t);
}

}  // namespace stoker::feed
