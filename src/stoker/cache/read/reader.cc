#include "stoker/cache/read/reader.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "stoker/base/checked.h"
#include "stoker/base/errors.h"
#include "stoker/base/invariant.h"
#include "stoker/cache/errors.h"
#include "stoker/cache/read/fused_read.h"
#include "stoker/cache/read/sigbus_guard.h"

namespace stoker::cache {
namespace {

// Shards of one kind (and array name) in id order, with the number of records before each.
struct Group {
  RecordKind kind = RecordKind::kMel;
  std::string array;
  std::vector<std::uint32_t> shard_indices;
  std::vector<std::size_t> first_records;
  std::size_t num_records = 0;
};

Error out_of_order(const ShardView& before, const ShardView& view) {
  Error error;
  error.code = &kShardForeign;
  error.place.file = view.file();
  error.promised = fmt::format("ids after \"{}\" of {}", before[before.size() - 1].id,
                               shard_file_name(before.header().number));
  error.found = fmt::format("\"{}\"", view[0].id);
  return error;
}

Result<std::vector<Group>> group_shards(const OpenGeneration& open) {
  std::vector<Group> groups;
  for (std::uint32_t i = 0; i < open.shards.size(); ++i) {
    const ShardLine& line = open.manifest.shards[i];
    const ShardView& view = open.shards[i].view();
    if (view.size() == 0) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return g.kind == line.kind && g.array == line.array;
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), {line.kind, line.array, {}, {}, 0});
    if (!group->shard_indices.empty()) {
      const ShardView& before = open.shards[group->shard_indices.back()].view();
      if (before[before.size() - 1].id >= view[0].id) return out_of_order(before, view);
    }
    group->shard_indices.push_back(i);
    group->first_records.push_back(group->num_records);
    group->num_records += view.size();
  }
  return groups;
}

}  // namespace

struct Reader::State {
  std::string folder;
  OpenGeneration open;
  std::vector<Group> groups;
  Verification verification = Verification::kFirstTouch;
  std::vector<std::size_t> first_flags;  // of each shard in `checked`
  std::unique_ptr<std::atomic<bool>[]> checked;

  const Group* find_group(RecordKind kind, std::string_view array) const noexcept {
    for (const Group& group : groups)
      if (group.kind == kind && group.array == array) return &group;
    return nullptr;
  }
  std::atomic<bool>& flag(RecordRef ref) const noexcept {
    return checked[first_flags[ref.shard_index] + ref.record_index];
  }
  const ShardFile& shard(RecordRef ref) const noexcept { return open.shards[ref.shard_index]; }
  bool must_check(RecordRef ref) const noexcept {
    switch (verification) {
      case Verification::kEveryTime:
        return true;
      case Verification::kFirstTouch:
        return !flag(ref).load(std::memory_order_relaxed);
      case Verification::kOff:
        return false;
    }
    return true;
  }
};

namespace {

// What one guarded pass over a record does and finds out.
struct RecordPass {
  const ShardView& view;
  std::size_t index;
  std::span<const std::byte> record;
  FusedCopy copy;
  bool must_check;
  std::optional<Error> error;

  void operator()() {
    const IndexEntry entry = view[index].at;
    copy.payload = record.subspan(kRecordHeaderBytes, entry.payload_bytes);
    if (!must_check) return copy_without_crc(copy);
    Result<std::uint32_t> before = view.check_frame(index, record);
    if (!before) {
      error = std::move(before).error();
      return;
    }
    copy.crc_before = *before;
    const std::uint32_t crc = copy_with_crc(copy);
    if (crc == entry.payload_crc) return;
    error = view.record_error(
        index, {fmt::format("payload CRC {:08x}", entry.payload_crc), fmt::format("{:08x}", crc)});
  }
};

Result<void> run_pass(const ShardFile& shard, RecordPass& pass, ReadScratch& scratch) {
  Result<std::span<const std::byte>> record = shard.record_bytes(pass.index, scratch.record);
  if (!record) return std::move(record).error();
  pass.record = *record;
  if (!shard.is_mapped())
    pass();
  else if (!guarded(shard.mapped_bytes(), pass))
    return shard.truncated_error(pass.index);
  if (pass.error) return std::move(*pass.error);
  return {};
}

}  // namespace

Reader::Reader(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(Io& io, const std::string& folder, const ReaderOptions& options) {
  Result<File> opened = open_file(io, folder, OpenFor::kFolder);
  if (!opened) {
    Error error = std::move(opened).error();
    if (error.code == &kIoMissing) error.code = &kNoCache;
    return error;
  }
  Result<OpenGeneration> generation = open_generation(*opened, options.mode);
  if (!generation) return std::move(generation).error();
  Result<std::vector<Group>> groups = group_shards(*generation);
  if (!groups) return std::move(groups).error();
  auto state = std::make_unique<State>();
  state->folder = folder;
  state->open = std::move(generation).value();
  state->groups = std::move(groups).value();
  state->verification = options.verification;
  std::size_t num_records = 0;
  for (const ShardFile& shard : state->open.shards) {
    state->first_flags.push_back(num_records);
    num_records += shard.view().size();
  }
  state->checked = std::make_unique<std::atomic<bool>[]>(num_records);
  return Reader(std::move(state));
}

const Manifest& Reader::manifest() const noexcept { return state_->open.manifest; }
const OpenGeneration& Reader::generation() const noexcept { return state_->open; }
const std::string& Reader::folder() const noexcept { return state_->folder; }

std::size_t Reader::num_records(RecordKind kind, std::string_view array) const noexcept {
  const Group* group = state_->find_group(kind, array);
  return group == nullptr ? 0 : group->num_records;
}

RecordRef Reader::record(RecordKind kind, std::size_t index,
                         std::string_view array) const noexcept {
  const Group* group = state_->find_group(kind, array);
  check_invariant(group != nullptr && index < group->num_records, "a record past the last one");
  const auto after =
      std::upper_bound(group->first_records.begin(), group->first_records.end(), index);
  const auto at = static_cast<std::size_t>(after - group->first_records.begin()) - 1;
  return {group->shard_indices[at], static_cast<std::uint32_t>(index - group->first_records[at])};
}

std::optional<RecordRef> Reader::find(RecordKind kind, std::string_view id,
                                      std::string_view array) const noexcept {
  const Group* group = state_->find_group(kind, array);
  if (group == nullptr) return std::nullopt;
  const auto after =
      std::upper_bound(group->shard_indices.begin(), group->shard_indices.end(), id,
                       [this](std::string_view wanted, std::uint32_t shard_index) {
                         return wanted < state_->open.shards[shard_index].view()[0].id;
                       });
  if (after == group->shard_indices.begin()) return std::nullopt;
  const std::uint32_t shard_index = *(after - 1);
  const std::optional<std::size_t> at = state_->open.shards[shard_index].view().find(id);
  if (!at) return std::nullopt;
  return RecordRef{shard_index, static_cast<std::uint32_t>(*at)};
}

RecordInfo Reader::info(RecordRef ref) const noexcept {
  const RecordEntry entry = state_->shard(ref).view()[ref.record_index];
  return {entry.id, entry.at.shape};
}

Result<void> Reader::read_mel_into(RecordRef ref, const RowTarget& target,
                                   ReadScratch& scratch) const {
  const ShardFile& shard = state_->shard(ref);
  const IndexEntry entry = shard.view()[ref.record_index].at;
  const std::size_t num_values = entry.payload_bytes / element_bytes(entry.shape.element);
  check_invariant(num_values <= target.num_values, "a row too short for its record");
  RecordPass pass{shard.view(),
                  ref.record_index,
                  {},
                  {{}, entry.shape.element, target.element, target.row, 0},
                  state_->must_check(ref),
                  {}};
  if (Result<void> done = run_pass(shard, pass, scratch); !done) return done;
  if (pass.must_check) state_->flag(ref).store(true, std::memory_order_relaxed);
  auto* rest = static_cast<std::byte*>(target.row) + num_values * element_bytes(target.element);
  fill_values(rest, target.element, target.num_values - num_values, target.padding);
  return {};
}

Result<void> Reader::read_into(RecordRef ref, std::span<std::byte> out,
                               ReadScratch& scratch) const {
  const ShardFile& shard = state_->shard(ref);
  const IndexEntry entry = shard.view()[ref.record_index].at;
  check_invariant(entry.payload_bytes <= out.size(), "a buffer too short for its record");
  RecordPass pass{shard.view(),
                  ref.record_index,
                  {},
                  {{}, entry.shape.element, entry.shape.element, out.data(), 0},
                  state_->must_check(ref),
                  {}};
  Result<void> done = run_pass(shard, pass, scratch);
  if (done.ok() && pass.must_check) state_->flag(ref).store(true, std::memory_order_relaxed);
  return done;
}

Result<void> Reader::read_tokens_into(RecordRef ref, std::span<std::int32_t> out,
                                      ReadScratch& scratch) const {
  check_invariant(info(ref).shape.element == ElementType::kI32, "tokens that are not i32");
  return read_into(ref, std::as_writable_bytes(out), scratch);
}

Result<RecordHeader> Reader::check(RecordRef ref, ReadScratch& scratch) const {
  return state_->shard(ref).check_record(ref.record_index, scratch.record);
}

Result<std::span<const std::byte>> Reader::check_in_place(RecordRef ref,
                                                          ReadScratch& scratch) const {
  if (!state_->shard(ref).is_mapped() || !state_->must_check(ref)) return mapped_payload(ref);
  if (Result<RecordHeader> header = check(ref, scratch); !header) return std::move(header).error();
  state_->flag(ref).store(true, std::memory_order_relaxed);
  return mapped_payload(ref);
}

std::span<const std::byte> Reader::mapped_payload(RecordRef ref) const noexcept {
  const ShardFile& shard = state_->shard(ref);
  if (!shard.is_mapped()) return {};
  const IndexEntry entry = shard.view()[ref.record_index].at;
  return shard.mapped_bytes().subspan(entry.at_bytes + kRecordHeaderBytes, entry.payload_bytes);
}

namespace {

constexpr std::uint64_t kPageBytes = 4096;  // a mapping begins on one

// The pages that hold the record.
std::span<std::byte> pages_of(const ShardFile& shard, const RecordEntry& entry) noexcept {
  const std::uint64_t page_at = entry.at.at_bytes / kPageBytes * kPageBytes;
  return {const_cast<std::byte*>(shard.mapped_bytes().data() + page_at),
          entry.at.at_bytes - page_at + kRecordHeaderBytes + entry.at.payload_bytes};
}

}  // namespace

void Reader::will_need(RecordRef ref) const noexcept {
  const ShardFile& shard = state_->shard(ref);
  if (!shard.is_mapped()) return;
  const std::span<std::byte> pages = pages_of(shard, shard.view()[ref.record_index]);
  posix_madvise(pages.data(), pages.size(), POSIX_MADV_WILLNEED);
}

void Reader::prefetch(RecordRef ref) const noexcept {
  constexpr std::size_t kLineBytes = 64;
  constexpr std::size_t kFirstBytes = 1024;
  const ShardFile& shard = state_->shard(ref);
  if (!shard.is_mapped()) return;
  const std::byte* const record =
      shard.mapped_bytes().data() + shard.view()[ref.record_index].at.at_bytes;
  for (std::size_t at = 0; at < kFirstBytes; at += kLineBytes) __builtin_prefetch(record + at);
}

bool Reader::is_resident(RecordRef ref) const noexcept {
  const ShardFile& shard = state_->shard(ref);
  if (!shard.is_mapped()) return true;
  std::span<std::byte> pages = pages_of(shard, shard.view()[ref.record_index]);
  constexpr std::size_t kLookedPages = 256;
  std::array<unsigned char, kLookedPages> resident{};
  pages = pages.first(std::min(pages.size(), kLookedPages * kPageBytes));
  if (mincore(pages.data(), pages.size(), resident.data()) != 0) return true;
  const std::size_t num_pages = (pages.size() + kPageBytes - 1) / kPageBytes;
  return std::all_of(resident.begin(), resident.begin() + static_cast<std::ptrdiff_t>(num_pages),
                     [](unsigned char page) { return (page & 1U) != 0; });
}

std::vector<std::span<const std::byte>> Reader::mapped_shards() const {
  std::vector<std::span<const std::byte>> all;
  for (const ShardFile& shard : state_->open.shards) all.push_back(shard.mapped_bytes());
  return all;
}

}  // namespace stoker::cache
