// What turns written symbols into ids, and back for people to read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::text {

inline constexpr std::int32_t kNoId = -1;

// Ids with a meaning of their own; kNoId where the vocabulary has none.
struct SpecialIds {
  std::int32_t pad = 0;
  std::int32_t unknown = kNoId;
  std::int32_t blank = kNoId;
  std::int32_t begin = kNoId;
  std::int32_t end = kNoId;
};

// The ids that our own vocabularies start with; their symbols follow.
inline constexpr SpecialIds kNativeIds{.pad = 0, .unknown = 1, .blank = 2, .begin = 3, .end = 4};
inline constexpr std::int32_t kFirstNativeSymbol = 5;
// "<pad>", "<unk>", …; empty for any other id.
std::string native_special_name(std::int32_t id);

enum class BlankPlacement {
  kAround,             // _a_b_: before, between and after the symbols
  kAfterEachButSpace,  // a_b_ c_: as in myxtts
};

// How a sequence is dressed once its symbols have ids.
struct SequenceStyle {
  bool has_edges = false;  // begin and end ids around every sequence
  BlankPlacement blanks = BlankPlacement::kAround;
};

// A symbol outside the vocabulary and how often one text held it.
struct UnknownSymbol {
  std::string symbol;
  std::uint64_t count = 0;
};

// Immutable and thread-safe.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  virtual std::string_view name() const noexcept = 0;
  virtual std::size_t size() const noexcept = 0;  // ids are 0 … size − 1
  virtual SpecialIds specials() const noexcept = 0;
  virtual SequenceStyle style() const noexcept { return {}; }
  // What decides the ids beside the symbols: the digest of a model file; empty where nothing does.
  virtual std::string identity() const { return {}; }
  // What people call the id: "a", "<pad>", "<0xC3>"; empty for ids outside.
  virtual std::string symbol(std::int32_t id) const = 0;

  // Appends one id per symbol of `text`, kNoId for one outside the vocabulary, which is also
  // counted in `unknown`.
  virtual void encode(std::string_view text, std::vector<std::int32_t>& ids,
                      std::vector<UnknownSymbol>& unknown) const = 0;
};

// Counts one more `symbol` in the list.
void count_unknown(std::vector<UnknownSymbol>& unknown, std::string_view symbol);

// Digest over every symbol in order and the identity: part of a cache's validity.
std::string vocabulary_digest(const Vocabulary& vocabulary);

}  // namespace stoker::text
