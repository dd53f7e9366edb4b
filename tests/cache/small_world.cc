#include "tests/cache/small_world.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "stoker/base/bytes.h"
#include "stoker/cache/build/cache_lock.h"
#include "stoker/cache/errors.h"

namespace stoker::cache {
namespace {

class SmallMelWorker final : public RecordMaker::Worker {
 public:
  using Load = std::function<Result<std::vector<std::byte>>(std::size_t)>;
  explicit SmallMelWorker(Load load) : load_(std::move(load)) {}

  Result<void> make(std::size_t row, MadeRecord& out) override {
    Result<std::vector<std::byte>> bytes = load_(row);
    if (!bytes) return std::move(bytes).error();
    out.source = digest_of(std::span<const std::byte>(*bytes));
    out.source_bytes = bytes->size();
    if (view_text(*bytes).starts_with("bad")) {
      Error error;
      error.code = &kNpyValue;
      error.place.file = out.id;
      error.promised = "good bytes";
      error.found = "bad ones";
      return error;
    }
    const auto num_frames = static_cast<std::uint32_t>(bytes->size());
    std::span<std::byte> payload = out.reset({ElementType::kF16, 2, {num_frames, 3}});
    for (std::size_t i = 0; i < payload.size(); ++i)
      payload[i] = static_cast<std::byte>(std::to_integer<unsigned>((*bytes)[i / 6]) & 0x3BU);
    return {};
  }

 private:
  Load load_;
};

class SmallTokenWorker final : public RecordMaker::Worker {
 public:
  explicit SmallTokenWorker(const SmallRows& rows) : rows_(rows) {}

  Result<void> make(std::size_t row, MadeRecord& out) override {
    const std::string& text = rows_.texts.at(rows_.ids[row]);
    out.source = digest_of(text);
    out.source_bytes = text.size();
    std::span<std::byte> payload =
        out.reset({ElementType::kI32, 1, {static_cast<std::uint32_t>(text.size())}});
    for (std::size_t i = 0; i < text.size(); ++i)
      store_le<std::int32_t>(payload.data() + 4 * i, text[i]);
    return {};
  }

 private:
  const SmallRows& rows_;
};

}  // namespace

SmallRows SmallRows::make(std::size_t num_rows) {
  SmallRows rows;
  for (std::size_t i = 0; i < num_rows; ++i) {
    rows.ids.push_back(fmt::format("u{:03}", i));
    rows.texts[rows.ids.back()] = fmt::format("text {}", i);
  }
  return rows;
}

SmallMelMaker::SmallMelMaker(Io& io, std::string data_folder, const SmallRows& rows,
                             std::string setting)
    : io_(io), folder_(std::move(data_folder)), rows_(rows), setting_(std::move(setting)) {}

Result<std::vector<std::byte>> SmallMelMaker::load(std::size_t row) const {
  Result<File> file = open_file(io_, folder_ + "/" + rows_.ids[row], OpenFor::kRead);
  if (!file) return std::move(file).error();
  return read_whole(*file, 1 << 20);
}

Result<std::optional<SourceStamp>> SmallMelMaker::stamp(std::size_t row) const {
  Result<File> file = open_file(io_, folder_ + "/" + rows_.ids[row], OpenFor::kRead);
  if (!file) return std::move(file).error();
  Result<FileInfo> info = file->info();
  if (!info) return std::move(info).error();
  return std::optional(SourceStamp{info->size_bytes, info->mtime_ns, info->ctime_ns, info->inode});
}

Result<Digest128> SmallMelMaker::source_digest(std::size_t row) const {
  Result<std::vector<std::byte>> bytes = load(row);
  if (!bytes) return std::move(bytes).error();
  return digest_of(std::span<const std::byte>(*bytes));
}

std::unique_ptr<RecordMaker::Worker> SmallMelMaker::make_worker() const {
  return std::make_unique<SmallMelWorker>([this](std::size_t row) { return load(row); });
}

Result<Digest128> SmallTokenMaker::source_digest(std::size_t row) const {
  return digest_of(rows_.texts.at(rows_.ids[row]));
}

std::unique_ptr<RecordMaker::Worker> SmallTokenMaker::make_worker() const {
  return std::make_unique<SmallTokenWorker>(rows_);
}

SmallWorld::SmallWorld(Io& io, std::string root, std::size_t num_rows)
    : rows(SmallRows::make(num_rows)), io_(io), root_(std::move(root)) {}

void SmallWorld::write_sources() const {
  std::filesystem::create_directories(root_ + "/data");
  for (std::size_t i = 0; i < rows.ids.size(); ++i)
    std::ofstream(source_path(i)) << "source of " << rows.ids[i] << std::string(i % 7, '.');
}

BuildTarget SmallWorld::target() const {
  makers_.clear();
  makers_.push_back(std::make_unique<SmallMelMaker>(io_, root_ + "/data", rows, mel_setting));
  makers_.push_back(std::make_unique<SmallTokenMaker>(rows, token_setting));
  BuildTarget target;
  target.head.path = "scalar/f16";
  target.head.features = digest_of(mel_setting);
  target.head.text = digest_of(token_setting);
  target.head.settings = {{"features", "mel", mel_setting}, {"text", "cleaner", token_setting}};
  for (const auto& maker : makers_) target.makers.push_back(maker.get());
  return target;
}

BuildReport SmallWorld::build(unsigned num_workers, BuildOptions options) {
  make_folders(io_, cache_path()).take_or_raise();
  const File folder = open_file(io_, cache_path(), OpenFor::kFolder).take_or_raise();
  const CacheLock lock =
      CacheLock::take(folder, {.when_locked = WhenLocked::kRefuse}).take_or_raise();
  options.num_workers = num_workers;
  return build_cache(folder, target(), options);
}

std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

}  // namespace stoker::cache
