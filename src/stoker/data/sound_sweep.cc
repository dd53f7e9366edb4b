#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "stoker/base/cpu_count.h"
#include "stoker/base/number_text.h"
#include "stoker/base/thread/sync.h"
#include "stoker/data/errors.h"
#include "stoker/data/sound_check.h"
#include "stoker/text/errors.h"
#include "stoker/text/unknown_tally.h"

namespace stoker::data {
namespace {

constexpr std::size_t kRowsAtOnce = 32;

// What makes two rows the same recording: the file, or its samples.
struct Identity {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::uint32_t row = 0;

  bool operator<(const Identity& other) const {
    return std::tie(high, low, row) < std::tie(other.high, other.low, other.row);
  }
};

struct Judged {
  std::uint32_t row = 0;
  SoundVerdict verdict;
};

// What one worker found; merged when all are done.
struct Findings {
  std::vector<Judged> judged;  // rows with something to say
  std::vector<Identity> files;
  std::vector<Identity> contents;
  std::exception_ptr failure;
  text::TokenizeScratch scratch;
  std::vector<std::int32_t> ids;
};

class Sweep {
 public:
  Sweep(RowTable& rows, std::span<const SweptSource> sources, const IndexOptions& options,
        const LanguageTokenizers& tokenizers, std::stop_token stop)
      : rows_(rows),
        sources_(sources),
        options_(options),
        tokenizers_(tokenizers),
        stop_(std::move(stop)),
        progress_(options.progress == nullptr ? no_progress() : *options.progress) {
    progress_.set_total(rows.state.size());
  }

  std::vector<text::UnknownTally::Entry> unknown_symbols() const { return unknown_.entries(); }

  std::vector<Findings> run() {
    const unsigned wanted = options_.num_workers == 0 ? count_cpus().allowed : options_.num_workers;
    const std::size_t useful = rows_.state.size() / kRowsAtOnce + 1;
    std::vector<Findings> findings(std::min<std::size_t>(wanted, useful));
    {
      std::vector<Thread> threads;
      try {
        for (std::size_t i = 1; i < findings.size(); ++i)
          threads.emplace_back("sweep",
                               [this, &findings, i](const std::stop_token&) { work(findings[i]); });
      } catch (...) {
        end_with(findings[0], std::current_exception());
      }
      work(findings[0]);
      for (Thread& thread : threads) thread.join();
    }
    return findings;
  }

 private:
  void work(Findings& findings) noexcept {
    try {
      SoundCheck check(options_);
      for (std::size_t begin = next_.fetch_add(kRowsAtOnce); begin < rows_.state.size();
           begin = next_.fetch_add(kRowsAtOnce)) {
        if (stop_.stop_requested())
          raise({.code = &kDataStopped, .found = "asked to stop while checking files"});
        const std::size_t end = std::min(begin + kRowsAtOnce, rows_.state.size());
        for (std::size_t row = begin; row < end; ++row)
          if (rows_.state[row] == RowState::kAccepted)
            judge(check, static_cast<std::uint32_t>(row), findings);
        progress_.advance(end - begin);
      }
    } catch (...) {
      end_with(findings, std::current_exception());
    }
  }

  // No worker begins another row.
  void end_with(Findings& findings, std::exception_ptr failure) noexcept {
    findings.failure = std::move(failure);
    next_.store(rows_.state.size());
  }

  const Segment* segment_of(std::uint32_t row) const {
    const auto at = std::lower_bound(rows_.segments.begin(), rows_.segments.end(), row,
                                     [](const Segment& s, std::uint32_t r) { return s.row < r; });
    return at != rows_.segments.end() && at->row == row ? &*at : nullptr;
  }

  void judge(SoundCheck& check, std::uint32_t row, Findings& findings) {
    const Utterance utterance = rows_.utterances[row];
    SoundVerdict verdict =
        check.judge(utterance, segment_of(row), *sources_[utterance.source].root);
    if (verdict.verdict == Verdict::kRejected && verdict.error.code->exit == ExitCode::kMemory)
      raise(std::move(verdict.error));  // not this row's fault
    if (verdict.verdict == Verdict::kAccepted && !tokenizers_.empty())
      judge_text(utterance, verdict, findings);
    if (verdict.verdict == Verdict::kAccepted) {
      rows_.utterances.set_sound(row, verdict.sound);
      if (!utterance.is_segment)
        findings.files.push_back({verdict.file.device, verdict.file.inode, row});
      if (verdict.content)
        findings.contents.push_back({verdict.content->high, verdict.content->low, row});
      if (verdict.oddities.empty()) return;
    }
    if (verdict.verdict == Verdict::kRejected) progress_.reject(1);
    findings.judged.push_back({row, std::move(verdict)});
  }

  // What the vocabulary says to the text; symbols that it drops or replaces are tallied.
  void judge_text(const Utterance& utterance, SoundVerdict& verdict, Findings& findings) {
    const Place place{.file = sources_[utterance.source].metadata_file, .line = utterance.line};
    const auto outcome =
        tokenizers_[utterance.language]->tokenize(utterance.text, findings.scratch, findings.ids);
    unknown_.note(findings.scratch, place);
    if (outcome == text::TokenizeOutcome::kDone) return;
    verdict.verdict = Verdict::kRejected;
    verdict.error = text::tokenize_error(outcome, findings.scratch, place);
  }

  RowTable& rows_;
  std::span<const SweptSource> sources_;
  const IndexOptions& options_;
  const LanguageTokenizers& tokenizers_;
  std::stop_token stop_;
  Progress& progress_;
  text::UnknownTally unknown_;
  std::atomic<std::size_t> next_{0};
};

Finding finding_of(const RowTable& rows, std::uint32_t row, Error error) {
  const Utterance utterance = rows.utterances[row];
  return {.id = std::string(utterance.id),
          .line = utterance.line,
          .source = utterance.source,
          .error = std::move(error)};
}

void enter_verdict(RowTable& rows, Judged judged, Account& account) {
  SoundVerdict& verdict = judged.verdict;
  switch (verdict.verdict) {
    case Verdict::kRejected:
      rows.state[judged.row] = RowState::kRejected;
      account.reject(finding_of(rows, judged.row, std::move(verdict.error)));
      break;
    case Verdict::kFiltered:
      rows.state[judged.row] = RowState::kLimit;
      account.filter(*verdict.error.code);
      break;
    case Verdict::kAccepted:
      for (Error& oddity : verdict.oddities)
        account.warn(finding_of(rows, judged.row, std::move(oddity)));
      break;
  }
}

// Warns of rows that share an identity; `known` keeps a pair from being named twice.
void warn_of_twins(const RowTable& rows, std::vector<Identity> all, std::string_view what,
                   std::unordered_set<std::uint32_t>& known, Account& account) {
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (std::tie(all[i].high, all[i].low) != std::tie(all[i - 1].high, all[i - 1].low)) continue;
    if (!known.insert(all[i].row).second) continue;
    const Utterance twin = rows.utterances[all[i - 1].row];
    account.warn(finding_of(rows, all[i].row,
                            {.code = &kMetaSameFile,
                             .place = {.file = std::string(rows.utterances[all[i].row].file)},
                             .promised = "a recording of its own",
                             .found = fmt::format("the same {} as \"{}\" (line {})", what,
                                                  escape_control(twin.id), twin.line)}));
  }
}

// Each symbol outside the vocabulary is named once, with the first line that has it.
void warn_of_unknown(const std::vector<text::UnknownTally::Entry>& symbols, Account& account) {
  for (const text::UnknownTally::Entry& entry : symbols)
    account.warn({.id = {},
                  .line = entry.first.line.value_or(0),
                  .error = {.code = &text::kTextUnknown,
                            .place = entry.first,
                            .promised = "characters of the vocabulary",
                            .found = fmt::format("\"{}\" {} times", escape_control(entry.symbol),
                                                 grouped(entry.count))}});
}

}  // namespace

void sweep_sounds(RowTable& rows, std::span<const SweptSource> sources, const IndexOptions& options,
                  const LanguageTokenizers& tokenizers, Account& account, std::stop_token stop) {
  Sweep sweep(rows, sources, options, tokenizers, std::move(stop));
  std::vector<Findings> all = sweep.run();
  Findings merged;
  for (Findings& one : all) {
    if (one.failure) std::rethrow_exception(one.failure);
    merged.files.insert(merged.files.end(), one.files.begin(), one.files.end());
    merged.contents.insert(merged.contents.end(), one.contents.begin(), one.contents.end());
    for (Judged& judged : one.judged) merged.judged.push_back(std::move(judged));
  }
  std::sort(merged.judged.begin(), merged.judged.end(),
            [](const Judged& a, const Judged& b) { return a.row < b.row; });
  for (Judged& judged : merged.judged) enter_verdict(rows, std::move(judged), account);
  warn_of_unknown(sweep.unknown_symbols(), account);
  std::unordered_set<std::uint32_t> known;
  warn_of_twins(rows, std::move(merged.files), "file", known, account);
  warn_of_twins(rows, std::move(merged.contents), "content", known, account);
}

}  // namespace stoker::data
