// Made-up mel records of the mean clip, for measuring the cache without a data set.
#pragma once

#include <string>
#include <vector>

#include "stoker/cache/build/record_maker.h"

namespace stoker::bench {

inline constexpr std::uint32_t kBenchFrames = 566;
inline constexpr std::uint32_t kBenchPaddedFrames = 576;
inline constexpr std::uint32_t kBenchMels = 80;

// Finite f16 values that differ from record to record; the same on every machine.
class BenchRecordMaker final : public cache::RecordMaker {
 public:
  explicit BenchRecordMaker(std::size_t num_records);

  cache::RecordKind kind() const override { return cache::RecordKind::kMel; }
  Digest128 settings() const override { return digest_of(std::string_view("made up")); }
  std::size_t num_rows() const override { return ids_.size(); }
  std::string_view id(std::size_t row) const override { return ids_[row]; }
  std::uint64_t expected_bytes(std::size_t) const override {
    return std::uint64_t{2} * kBenchFrames * kBenchMels;
  }
  Result<std::optional<cache::SourceStamp>> stamp(std::size_t) const override {
    return std::optional<cache::SourceStamp>();
  }
  Result<Digest128> source_digest(std::size_t row) const override { return digest_of(ids_[row]); }
  std::unique_ptr<Worker> make_worker() const override;

 private:
  std::vector<std::string> ids_;
};

}  // namespace stoker::bench
