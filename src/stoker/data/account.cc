#include "stoker/data/account.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "stoker/base/invariant.h"

namespace stoker::data {
namespace {

void count_one(CodeCounts& counts, std::string_view name) {
  const auto at = counts.find(name);
  if (at != counts.end())
    ++at->second;
  else
    counts.emplace(name, 1);
}

void sort_by_line(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.source, a.line, a.error.code->name) <
           std::tie(b.source, b.line, b.error.code->name);
  });
}

}  // namespace

void Account::reject(Reject reject) {
  reject.error.action = "row rejected";
  count_one(reject_codes_, reject.error.code->name);
  ++counts_.rejected;
  rejects_.push_back(std::move(reject));
}

void Account::filter(const ErrorCode& code) {
  count_one(filter_codes_, code.name);
  ++counts_.filtered;
}

void Account::unfilter(const ErrorCode& code) {
  const auto at = filter_codes_.find(code.name);
  check_invariant(at != filter_codes_.end() && counts_.filtered > 0, "a row that was not filtered");
  if (--at->second == 0) filter_codes_.erase(at);
  --counts_.filtered;
}

void Account::warn(Warning warning) {
  warning.error.action = "row used";
  count_one(warning_codes_, warning.error.code->name);
  if (warning_codes_.find(warning.error.code->name)->second <= kMaxListedWarnings)
    warnings_.push_back(std::move(warning));
}

void Account::note(std::string_view rule) { count_one(notes_, rule); }

void Account::close() {
  check_invariant(counts_.filtered + counts_.rejected <= counts_.rows, "more verdicts than rows");
  counts_.accepted = counts_.rows - counts_.filtered - counts_.rejected;
  sort_by_line(rejects_);
  sort_by_line(warnings_);
}

std::string rejects_jsonl(const std::vector<Reject>& rejects) {
  std::string out;
  for (const Reject& reject : rejects) {
    nlohmann::ordered_json row;
    row["id"] = escape_control(reject.id);
    row["file"] = escape_control(reject.error.place.file);
    row["line"] = reject.line;
    row["at"] = reject.error.place.byte ? nlohmann::ordered_json(*reject.error.place.byte)
                                        : nlohmann::ordered_json();
    row["code"] = reject.error.code->name;
    row["promised"] = escape_control(reject.error.promised);
    row["found"] = escape_control(reject.error.found);
    row["action"] = reject.error.action;
    out += row.dump();
    out += '\n';
  }
  return out;
}

}  // namespace stoker::data
