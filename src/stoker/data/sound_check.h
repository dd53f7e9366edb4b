// Judges the sound files of rows: openable, honest, long enough, and within the user's limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/audio/file/sound_file.h"
#include "stoker/base/digest/digest.h"
#include "stoker/base/io/io.h"
#include "stoker/data/account.h"
#include "stoker/data/index_options.h"
#include "stoker/data/layout.h"
#include "stoker/data/row_intake.h"
#include "stoker/data/utterance.h"
#include "stoker/data/vocabulary_fit.h"

namespace stoker::data {

// E-META-NOFILE: every path that was tried, and which normal form exists instead.
Error missing_sound(const MetadataSource& metadata, std::string_view wanted,
                    std::optional<std::string_view> other_form);

// What a listing alone can refuse: pipes, sockets, devices, folders, links where none may be.
std::optional<Error> unusable_kind(const std::string& path, FileKind kind, Links links);

// Opens beneath the root, never blocking; the error is in the words of a data set.
Result<File> open_sound(const File& root, const std::string& path, Links links);

enum class Verdict { kAccepted, kRejected, kFiltered };

struct SoundVerdict {
  Verdict verdict = Verdict::kAccepted;
  Error error;                  // of a reject; error.code alone of a filter
  std::vector<Error> oddities;  // of an utterance
  UtteranceTable::Sound sound;
  FileInfo file;
  std::optional<Digest128> content;  // of the samples, when every one was read
};

// One a worker: keeps its buffers.
class SoundCheck {
 public:
  explicit SoundCheck(const IndexOptions& options) : options_(options) {}

  SoundVerdict judge(const Utterance& utterance, const Segment* segment, const File& root);

 private:
  void judge_file(const File& file, const Segment* segment, SoundVerdict& out);
  void judge_length(const File& file, const audio::SoundInfo& info, SoundVerdict& out) const;
  void judge_samples(const File& file, const audio::SoundInfo& info, SoundVerdict& out);

  const IndexOptions& options_;
  audio::SoundReader reader_;
  std::vector<float> samples_;
};

struct SweptSource {
  const File* root = nullptr;
  std::string metadata_file;  // for messages
};

// Judges all rows with several threads; the result does not depend on how many. Fills in samples
// and rates, sets the state of rows that cannot be used, and keeps the account. `sources` are by
// number. Throws when it is stopped, or when memory or file handles run out.
// `tokenizers` are by Utterance::language; empty where texts are not looked at.
void sweep_sounds(RowTable& rows, std::span<const SweptSource> sources, const IndexOptions& options,
                  const LanguageTokenizers& tokenizers, Account& account, std::stop_token stop);

}  // namespace stoker::data
