// Records of arrays that a user brings as one .npy file an utterance.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/cache/build/record_maker.h"
#include "stoker/cache/format/npy.h"

namespace stoker::cache {

// The .npy files of a folder by id, leftovers of killed writers apart.
struct NpyFolder {
  struct Row {
    std::string id;
    std::string file;  // relative to the folder
  };
  std::vector<Row> rows;          // sorted by id
  std::size_t num_leftovers = 0;  // "*.npy.tmp.npy": ignored
  std::size_t num_other = 0;      // not .npy at all
};

// Lists `folder` and its sub-folders: sub/a.npy is the id "sub/a".
Result<NpyFolder> list_npy_folder(const File& folder);

// What an array becomes before it is stored; refuses it with an Error.
using ArrayRule = std::function<Result<NpyArray>(const std::string& file, NpyArray array)>;

// Any numeric array whose values are finite.
Result<NpyArray> accept_finite(const std::string& file, NpyArray array);

// Whether arrays of both shapes can be rows of one batch: they differ in length alone.
bool is_same_kind(const ArrayShape& a, const ArrayShape& b) noexcept;
// E-NPY-MIXED: `file` holds `found`, `first_file` holds `first`.
Error mixed_arrays(const std::string& first_file, const ArrayShape& first, const std::string& file,
                   const ArrayShape& found);

// One record an .npy file of a folder. Immutable.
class ArrayMaker final : public RecordMaker {
 public:
  struct Options {
    RecordKind kind = RecordKind::kArray;
    std::string array;  // name, for kArray
    Digest128 settings;
    ArrayRule rule = accept_finite;
  };
  // Reads the header of every file of a named array. Throws DataError E-NPY-MIXED where two of
  // them cannot be rows of one batch.
  ArrayMaker(File folder, std::vector<NpyFolder::Row> rows, Options options);

  RecordKind kind() const override { return options_.kind; }
  std::string_view array() const override { return options_.array; }
  Digest128 settings() const override { return options_.settings; }
  std::size_t num_rows() const override { return rows_.size(); }
  std::string_view id(std::size_t row) const override { return rows_[row].id; }
  std::uint64_t expected_bytes(std::size_t row) const override;
  Result<std::optional<SourceStamp>> stamp(std::size_t row) const override;
  Result<Digest128> source_digest(std::size_t row) const override;
  std::unique_ptr<Worker> make_worker() const override;

  // A named array's file as it was when this was made.
  struct Header {
    std::optional<ArrayShape> shape;  // nothing: making the record says why
    SourceStamp stamp;
  };
  const Header& header(std::size_t row) const { return headers_[row]; }

  // The file's bytes; bounded by what is there.
  Result<std::vector<std::byte>> load(std::size_t row) const;
  const ArrayRule& rule() const noexcept { return options_.rule; }
  std::string path(std::size_t row) const { return folder_.path() + "/" + rows_[row].file; }

 private:
  void read_headers();

  File folder_;
  std::vector<NpyFolder::Row> rows_;
  Options options_;
  std::vector<Header> headers_;  // of named arrays alone
};

}  // namespace stoker::cache
