// Guesses from the characters of texts what they are written in, to name a likely language.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace stoker::text {

struct Script {
  std::string name;                             // "Arabic"; "signs" where no script owns them
  std::span<const std::string_view> languages;  // written in it, in the order to try them
};

// Counts characters by their script. Not thread-safe.
class ScriptTally {
 public:
  // `symbol` is UTF-8 and counts `count` times; characters that several scripts share do not count.
  void add(std::string_view symbol, std::uint64_t count);

  Script most_frequent() const;

 private:
  std::map<int, std::uint64_t> counts_;  // by ICU's UScriptCode
};

}  // namespace stoker::text
