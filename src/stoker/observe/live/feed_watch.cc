#include "stoker/observe/live/feed_watch.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "stoker/feed/records/record_places.h"

namespace stoker::observe {
namespace {

using feed::RecordReader;

std::optional<FileInfo> regular_file(Io& io, const std::string& path) {
  FileInfo info;
  const bool is_there = io.info_at(AT_FDCWD, path, info).ok();
  return is_there && info.kind == FileKind::kRegular ? std::optional(info) : std::nullopt;
}

// Live where somebody still writes to it.
struct Ring {
  std::string path{};
  std::uint64_t num_written = 0;
};
std::optional<Ring> live_ring(Io& io, const std::string& path) {
  if (!regular_file(io, path)) return std::nullopt;
  const Result<RecordReader> reader = RecordReader::open(path, io);
  if (!reader || !reader->is_written()) return std::nullopt;
  const Result<bool> has_ended = reader->has_ended();
  const Result<std::uint64_t> num_written = reader->num_written();
  if (!has_ended || *has_ended || !num_written) return std::nullopt;
  return Ring{path, *num_written};
}

}  // namespace

FeedWatch::FeedWatch(FeedTarget target, Io& io, std::string root, const Clock& clock)
    : target_(std::move(target)),
      io_(io),
      files_(io, std::move(root)),
      clock_(clock),
      is_own_(target_.reader.has_value()) {
  figures_.begin_feed(0);
  if (!is_own_) return;
  reader_ = std::move(target_.reader);
  sentence_ = "the feed of this process";
}

std::optional<int> FeedWatch::pid() const {
  return reader_ ? std::optional(reader_->head().pid) : std::nullopt;
}

LiveFeed FeedWatch::look(std::chrono::nanoseconds from) {
  LiveFeed out{.state = read()};
  const bool is_live = out.state == FeedState::kRunning || out.state == FeedState::kStarting;
  if (!is_own_ && (!is_live || was_replaced())) {
    Found found = find();
    if (found.path.empty() && !reader_) {
      out.state = found.state;
      sentence_ = found.sentence;
    } else if (!found.path.empty() && follow(std::move(found))) {
      out.state = read();
    }
  }
  out.sentence = sentence_of(out.state);
  figures_.put(from, clock_.now(), out);
  return out;
}

FeedWatch::Found FeedWatch::find() {
  if (!target_.run_folder.empty()) return find_of_run();
  return target_.pid ? find_of_pid(*target_.pid) : find_only();
}

FeedWatch::Found FeedWatch::find_of_run() const {
  const std::string& folder = target_.run_folder;
  const std::string path = feed::run_records(folder);
  if (regular_file(io_, path)) return {path, FeedState::kStarting, "run " + folder};
  FileInfo info;
  const bool is_there = io_.info_at(AT_FDCWD, folder, info).ok();
  const std::string why = is_there ? "no records yet; it has not begun, or observe.records is off"
                                   : "no such folder yet; it has not begun";
  return {{}, FeedState::kNotBegun, fmt::format("run {}: {}", folder, why)};
}

FeedWatch::Found FeedWatch::find_of_pid(int pid) {
  std::vector<Ring> rings;
  for (const std::string& path : feed::rings_of_process(pid, io_))
    if (std::optional<Ring> ring = live_ring(io_, path)) rings.push_back(std::move(*ring));
  if (rings.empty()) {
    if (!files_.text(fmt::format("/proc/{}/stat", pid)))
      return {{}, FeedState::kNone, fmt::format("process {} is not there", pid)};
    return {{},
            FeedState::kNotBegun,
            fmt::format("process {} keeps no records in a file: it has no feed yet, "
                        "observe.records is off, or it is of another user",
                        pid)};
  }
  const auto busiest =
      std::max_element(rings.begin(), rings.end(),
                       [](const Ring& a, const Ring& b) { return a.num_written < b.num_written; });
  std::string sentence = fmt::format("process {}", pid);
  if (rings.size() > 1) sentence += fmt::format(", the busiest of its {} feeds", rings.size());
  return {busiest->path, FeedState::kStarting, std::move(sentence)};
}

FeedWatch::Found FeedWatch::find_only() {
  std::set<int> pids;
  for (const feed::ProcessRing& ring : feed::common_rings(io_))
    if (live_ring(io_, ring.path)) pids.insert(ring.pid);
  if (pids.size() == 1) return find_of_pid(*pids.begin());
  if (pids.empty())
    return {{}, FeedState::kNone, "no feed is watched: --run DIR or --pid P names one"};
  std::string list;
  for (const int pid : pids) list += fmt::format("{}{}", list.empty() ? "" : ", ", pid);
  return {
      {}, FeedState::kNone, fmt::format("{} feeds run; --pid takes one of {}", pids.size(), list)};
}

bool FeedWatch::follow(Found found) {
  const std::optional<FileInfo> info = regular_file(io_, found.path);
  if (!info || (reader_ && info->inode == inode_)) return false;
  Result<RecordReader> reader = RecordReader::open(found.path, io_);
  if (!reader) {
    if (!reader_) sentence_ = error_line(reader.error());
    return false;
  }
  const Result<std::uint64_t> num_written = reader->num_written();
  if (!num_written) return false;
  next_ = *num_written - std::min<std::uint64_t>(*num_written, reader->head().num_kept);
  figures_.begin_feed(next_);
  reader_ = std::move(*reader);
  inode_ = info->inode;
  sentence_ = std::move(found.sentence);
  if (num_followed_++ > 0) sentence_ += ", begun anew";
  return true;
}

bool FeedWatch::was_replaced() const {
  const std::optional<FileInfo> info = regular_file(io_, reader_->path());
  return info && info->inode != inode_;
}

FeedState FeedWatch::read() {
  if (!reader_) return FeedState::kNone;
  // Before the records: what was written until then is read below.
  const bool is_written = reader_->is_written();
  std::vector<feed::BatchRecord> records;
  const Result<feed::RecordsRead> got = reader_->read_since(next_, records);
  const Result<bool> has_ended = reader_->has_ended();
  if (!got || !has_ended) {
    sentence_ = error_line(got ? has_ended.error() : got.error());
    return FeedState::kKilled;
  }
  figures_.add(records, got->num_lost);
  next_ = got->next;
  if (*has_ended) return FeedState::kEnded;
  if (!is_written) return FeedState::kKilled;
  return next_ == 0 ? FeedState::kStarting : FeedState::kRunning;
}

std::string FeedWatch::sentence_of(FeedState state) const {
  if (state == FeedState::kStarting) return sentence_ + ": no batch was handed out yet";
  if (state == FeedState::kEnded) return sentence_ + ": ended";
  if (state == FeedState::kKilled)
    return sentence_ + fmt::format(": process {} is gone", pid().value_or(0));
  return sentence_;
}

}  // namespace stoker::observe
