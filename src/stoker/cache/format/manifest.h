// The manifest: which shards are committed and with which settings they were made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/base/result.h"
#include "stoker/cache/format/shard_format.h"

namespace stoker::cache {

inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{1} << 30U;

// One effective value of a settings group, as text in shortest round-trip form.
struct Setting {
  std::string group;  // "features" or "text"
  std::string name;
  std::string value;

  auto operator<=>(const Setting&) const = default;
};

// A row that turned out bad while its shard was built.
struct LeftOut {
  RecordKind kind = RecordKind::kMel;
  std::string id;
  std::string code;
  Digest128 source;

  bool operator==(const LeftOut&) const = default;
};

struct ShardLine {
  std::uint32_t number = 0;
  RecordKind kind = RecordKind::kMel;
  std::string array;
  std::uint32_t num_records = 0;
  std::uint64_t size_bytes = 0;
  Digest128 settings;
  Digest128 digest;

  bool operator==(const ShardLine&) const = default;
};

struct Manifest {
  std::string path;  // numeric path, "avx512/f16"
  Digest128 features;
  Digest128 text;
  std::vector<Setting> settings;
  std::vector<LeftOut> left_out;
  std::vector<ShardLine> shards;

  bool operator==(const Manifest&) const = default;
  std::size_t generation() const noexcept { return shards.size(); }
  const ShardLine* find_shard(std::uint32_t number) const noexcept;
};

// Sorts the lines, so that equal content gives equal bytes.
std::string encode_manifest(Manifest manifest);

// Strict: the bytes must be exactly what encode_manifest gives for what they say.
Result<Manifest> decode_manifest(const std::string& file, std::span<const std::byte> bytes);

// E-CACHE-NONE when there is none. `folder` is open.
Result<Manifest> load_manifest(const File& folder);

// 32 hexadecimal digits, lower case.
std::optional<Digest128> digest_from_hex(std::string_view hex) noexcept;

}  // namespace stoker::cache
