// A data set of tiny files and the makers of its records, for tests of building and checking.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/cache/build/build.h"
#include "stoker/cache/build/record_maker.h"

namespace stoker::cache {

// Rows "u000", "u001" …: the source of each is the file data/<id>, its text is in memory.
struct SmallRows {
  std::vector<std::string> ids;
  std::map<std::string, std::string> texts;

  static SmallRows make(std::size_t num_rows);
};

// Turns source bytes into an f16 array [bytes, 3]; a source that starts with "bad" is refused.
class SmallMelMaker final : public RecordMaker {
 public:
  SmallMelMaker(Io& io, std::string data_folder, const SmallRows& rows, std::string setting = "a");

  RecordKind kind() const override { return RecordKind::kMel; }
  Digest128 settings() const override { return digest_of(setting_); }
  std::size_t num_rows() const override { return rows_.ids.size(); }
  std::string_view id(std::size_t row) const override { return rows_.ids[row]; }
  std::uint64_t expected_bytes(std::size_t) const override { return 600; }
  Result<std::optional<SourceStamp>> stamp(std::size_t row) const override;
  Result<Digest128> source_digest(std::size_t row) const override;
  std::unique_ptr<Worker> make_worker() const override;

 private:
  Result<std::vector<std::byte>> load(std::size_t row) const;

  Io& io_;
  std::string folder_;
  const SmallRows& rows_;
  std::string setting_;
};

// The text's characters as i32.
class SmallTokenMaker final : public RecordMaker {
 public:
  explicit SmallTokenMaker(const SmallRows& rows, std::string setting = "t")
      : rows_(rows), setting_(std::move(setting)) {}

  RecordKind kind() const override { return RecordKind::kTokens; }
  Digest128 settings() const override { return digest_of(setting_); }
  std::size_t num_rows() const override { return rows_.ids.size(); }
  std::string_view id(std::size_t row) const override { return rows_.ids[row]; }
  std::uint64_t expected_bytes(std::size_t) const override { return 64; }
  Result<std::optional<SourceStamp>> stamp(std::size_t) const override {
    return std::optional<SourceStamp>();
  }
  Result<Digest128> source_digest(std::size_t row) const override;
  std::unique_ptr<Worker> make_worker() const override;

 private:
  const SmallRows& rows_;
  std::string setting_;
};

// A whole small world on a file system: data/ and cache/ under `root`.
class SmallWorld {
 public:
  SmallWorld(Io& io, std::string root, std::size_t num_rows);

  // The files of the data set, on the real disk.
  void write_sources() const;
  std::string source_path(std::size_t row) const { return root_ + "/data/" + rows.ids[row]; }
  std::string cache_path() const { return root_ + "/cache"; }

  // Takes the lock and builds; throws as build_cache does.
  BuildReport build(unsigned num_workers = 1, BuildOptions options = {});
  BuildTarget target() const;

  SmallRows rows;
  std::string mel_setting = "a";
  std::string token_setting = "t";

 private:
  Io& io_;
  std::string root_;
  mutable std::vector<std::unique_ptr<RecordMaker>> makers_;
};

// Name -> content of every regular file of a folder on the real disk.
std::map<std::string, std::string> files_of(const std::string& folder);

}  // namespace stoker::cache
