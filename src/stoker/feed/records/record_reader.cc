#include "stoker/feed/records/record_reader.h"

#include <sys/file.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/base/number_text.h"
#include "stoker/base/thread/scheduler.h"
#include "stoker/feed/errors.h"
#include "stoker/feed/records/record_ring.h"
#include "stoker/feed/records/record_words.h"

namespace stoker::feed {
namespace {

constexpr std::uint64_t kChunkPlaces = 64;
constexpr std::size_t kPlaceWords = kRecordPlaceBytes / sizeof(std::uint64_t);

Error bad_file(const ErrorCode& code, const std::string& path, std::string promised,
               std::string found) {
  return {.code = &code,
          .place = {.file = path},
          .promised = std::move(promised),
          .found = std::move(found)};
}

Result<void> check_head(const RecordFileHead& head, const std::string& path) {
  if (head.magic != kRecordMagic)
    return bad_file(kRecordsFormat, path, "a ring of records", "other bytes at its front");
  if (head.version != kRecordVersion) {
    return bad_file(kRecordsVersion, path, "version " + std::to_string(kRecordVersion),
                    "version " + std::to_string(head.version));
  }
  const bool has_our_sizes =
      head.header_bytes == kRecordHeaderBytes && head.record_bytes == sizeof(BatchRecord) &&
      head.place_bytes == kRecordPlaceBytes && head.num_kept <= head.num_places;
  if (head.checksum != checksum_of(head) || !has_our_sizes || head.num_places == 0)
    return bad_file(kRecordsFormat, path, "a header with its checksum", "a damaged one");
  return {};
}

// What is not there yet is 0 for whoever reads.
bool is_plausible(BatchRecord& record, std::uint64_t number) {
  if (record.released_ns < 0) record.released_ns = 0;
  record.slowest_file.back() = '\0';
  return record.number == number &&
         static_cast<std::size_t>(record.slowest_stage) < kNumRecordStages;
}

}  // namespace

RecordReader::RecordReader(std::shared_ptr<const RecordRing> ring)
    : ring_(std::move(ring)), path_(ring_->path()) {
  std::memcpy(static_cast<void*>(&head_), ring_->bytes().data(),
              offsetof(RecordFileHead, num_written));
  std::memcpy(&head_.stages, ring_->bytes().data() + offsetof(RecordFileHead, stages),
              sizeof head_.stages + sizeof head_.works);
}

Result<RecordReader> RecordReader::open(const std::string& path, Io& io) {
  RecordReader reader;
  reader.path_ = path;
  Result<File> file = open_file(io, path, OpenFor::kRead);
  if (!file) return file.error();
  reader.file_ = std::move(file).value();
  if (Result<void> known = reader.load_head(); !known) return known.error();
  return reader;
}

Result<void> RecordReader::load_head() {
  const auto bytes = std::as_writable_bytes(std::span(&head_, 1));
  const Result<std::size_t> got = file_.read_at(bytes, 0);
  if (!got) return got.error();
  if (*got < sizeof head_)
    return bad_file(kRecordsFormat, path_, "a header of " + bytes_text(sizeof head_),
                    bytes_text(*got));
  if (Result<void> known = check_head(head_, path_); !known) return known;
  const Result<FileInfo> info = file_.info();
  if (!info) return info.error();
  const std::uint64_t whole_bytes =
      kRecordHeaderBytes + std::uint64_t{head_.num_places} * kRecordPlaceBytes;
  if (info->size_bytes >= whole_bytes) return {};
  return bad_file(kRecordsCut, path_, grouped(whole_bytes) + " bytes", grouped(info->size_bytes));
}

Result<void> RecordReader::load(std::uint64_t offset_bytes, std::span<std::uint64_t> words) const {
  schedule_point();
  if (ring_ != nullptr) {
    const auto* const from =
        reinterpret_cast<const std::uint64_t*>(ring_->bytes().data() + offset_bytes);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = load_word(from + i);
    return {};
  }
  const auto bytes = std::as_writable_bytes(words);
  const Result<std::size_t> got = file_.read_at(bytes, offset_bytes);
  if (!got) return got.error();
  if (*got == bytes.size()) return {};
  return bad_file(kRecordsCut, path_, grouped(offset_bytes + bytes.size()) + " bytes",
                  grouped(offset_bytes + *got));
}

Result<std::uint64_t> RecordReader::num_written() const {
  std::uint64_t number = 0;
  Result<void> got = load(offsetof(RecordFileHead, num_written), {&number, 1});
  return got ? Result<std::uint64_t>(number) : got.error();
}

Result<bool> RecordReader::has_ended() const {
  std::uint64_t flag = 0;
  Result<void> got = load(offsetof(RecordFileHead, has_ended), {&flag, 1});
  return got ? Result<bool>(flag != 0) : got.error();
}

// The writer holds a lock that ends with it.
bool RecordReader::is_written() const {
  if (ring_ != nullptr) return true;
  if (::flock(file_.handle(), LOCK_SH | LOCK_NB) != 0) return true;
  ::flock(file_.handle(), LOCK_UN);
  return false;
}

Result<RecordsRead> RecordReader::read_since(std::uint64_t number,
                                             std::vector<BatchRecord>& out) const {
  const Result<std::uint64_t> written = num_written();
  if (!written) return written.error();
  if (number >= *written) return RecordsRead{number, 0};
  const std::uint64_t kept = std::min<std::uint64_t>(*written, head_.num_kept);
  const std::uint64_t first = std::max(number, *written - kept);
  const std::size_t num_before = out.size();
  for (std::uint64_t at = first; at < *written;) {
    const std::uint64_t to_wrap = head_.num_places - at % head_.num_places;
    const std::uint64_t end = std::min({at + kChunkPlaces, at + to_wrap, *written});
    if (Result<void> read = read_range(at, end, out); !read) return read.error();
    at = end;
  }
  return RecordsRead{*written, *written - number - (out.size() - num_before)};
}

// Marks, records, marks: a record counts where its mark was the same, and even, before and after.
Result<void> RecordReader::read_range(std::uint64_t first, std::uint64_t end,
                                      std::vector<BatchRecord>& out) const {
  const std::uint64_t offset =
      kRecordHeaderBytes + first % head_.num_places * std::uint64_t{kRecordPlaceBytes};
  const std::size_t num_words = (end - first) * kPlaceWords;
  for (std::vector<std::uint64_t>* look : {&before_, &words_, &after_}) {
    look->resize(num_words);
    if (Result<void> got = load(offset, *look); !got) return got;
  }
  for (std::uint64_t number = first; number < end; ++number) {
    const std::size_t at = (number - first) * kPlaceWords;
    if (before_[at] != mark_of(number) || after_[at] != mark_of(number)) continue;
    BatchRecord record;
    std::memcpy(static_cast<void*>(&record), words_.data() + at + 1, sizeof record);
    if (is_plausible(record, number)) out.push_back(record);
  }
  return {};
}

}  // namespace stoker::feed
