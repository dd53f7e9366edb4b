#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/io/io.h"
#include "stoker/base/json.h"
#include "stoker/base/number_text.h"
#include "stoker/cli/command_context.h"
#include "stoker/cli/command_line.h"
#include "stoker/cli/commands.h"
#include "stoker/cli/settings_options.h"
#include "stoker/data/open_tokenizer.h"
#include "stoker/text/tokenizer.h"

namespace stoker::cli {
namespace {

constexpr std::array<std::string_view, 7> kTextSettings{
    "text.language", "text.vocabulary", "text.vocabulary_file", "text.cleaner",
    "text.unknown",  "text.add_blank",  "text.phonemes_file"};

void print_steps(CommandContext& context, const std::vector<text::NormalizeStep>& steps) {
  for (const text::NormalizeStep& step : steps) {
    context.print(fmt::format("  {:<14}{} -> {}", step.rule, step.from, step.to));
  }
}

void print_unknown(CommandContext& context, const text::TokenizeScratch& scratch) {
  if (scratch.normalize.num_removed != 0) {
    context.print(
        fmt::format("removed       {} invisible characters", scratch.normalize.num_removed));
  }
  for (const text::UnknownSymbol& unknown : scratch.unknown) {
    context.print(fmt::format("unknown       {} ({} times)", unknown.symbol, unknown.count));
  }
}

// Where a token is more than a character, which ones were found.
void print_pieces(CommandContext& context, const text::Vocabulary& vocabulary,
                  const std::vector<std::int32_t>& ids) {
  if (vocabulary.name() != "sentencepiece") return;
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const std::int32_t id : ids) pieces.push_back(vocabulary.symbol(id));
  context.print(fmt::format("pieces        {}", fmt::join(pieces, " ")));
  context.report()["pieces"] = pieces;
}

void report_as_json(Json& report, const text::Tokenizer& tokenizer,
                    const text::TokenizeScratch& scratch,
                    const std::vector<text::NormalizeStep>& steps) {
  report["language"] = tokenizer.options().language;
  report["cleaner"] = tokenizer.cleaner().name();
  report["vocabulary"] = tokenizer.vocabulary().name();
  report["normalized"] = scratch.normalized;
  report["steps"] = Json::array();
  for (const text::NormalizeStep& step : steps) {
    report["steps"].push_back({{"rule", step.rule}, {"from", step.from}, {"to", step.to}});
  }
  report["unknown"] = Json::array();
  for (const text::UnknownSymbol& unknown : scratch.unknown) {
    report["unknown"].push_back({{"symbol", unknown.symbol}, {"count", unknown.count}});
  }
  report["removed"] = scratch.normalize.num_removed;
}

ExitCode show_text(CommandContext& context, const std::string& raw) {
  data::require_utf8(raw);
  const text::Tokenizer tokenizer = data::open_tokenizer(context.settings().text, system_io());
  text::TokenizeScratch scratch;
  std::vector<std::int32_t> ids;
  const text::TokenizeOutcome outcome = tokenizer.tokenize(raw, scratch, ids);
  std::string words;
  const auto steps = tokenizer.cleaner().explain(raw, words);

  context.print(fmt::format("cleaner       {} {}", tokenizer.cleaner().name(),
                            tokenizer.cleaner().version()));
  print_steps(context, steps);
  context.print(fmt::format("words         {}", scratch.normalized));
  report_as_json(context.report(), tokenizer, scratch, steps);
  if (outcome != text::TokenizeOutcome::kDone) {
    Error error = text::tokenize_error(outcome, scratch, {});
    error.action = "text rejected";
    raise(std::move(error));
  }
  context.print(fmt::format("vocabulary    {}, {} symbols", tokenizer.vocabulary().name(),
                            tokenizer.vocabulary().size()));
  print_pieces(context, tokenizer.vocabulary(), ids);
  context.print(fmt::format("ids           {} ({})", fmt::join(ids, " "), grouped(ids.size())));
  print_unknown(context, scratch);
  context.report()["ids"] = ids;
  return ExitCode::kDone;
}

}  // namespace

void add_text_command(const Command& app, CommandContext& context) {
  const Command command = app.add_command("text", "Show how a text is read: each step and the ids");
  auto raw = std::make_shared<std::string>();
  command.add_option("text", *raw, "The raw text").required();
  add_setting_options(command, context, kTextSettings, "Text");
  context.on(command, [&context, raw] { return show_text(context, *raw); });
}

}  // namespace stoker::cli
