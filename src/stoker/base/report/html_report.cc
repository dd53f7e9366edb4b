#include "stoker/base/report/html_report.h"

#include <fmt/format.h>

#include "stoker/base/invariant.h"
#include "stoker/base/report/html_style.h"
#include "stoker/base/report/markup.h"

namespace stoker {
namespace {

bool looks_like_number(std::string_view text) {
  if (text.empty()) return false;
  // A leading sign may be the true minus (three bytes).
  if (text.starts_with("−")) text.remove_prefix(std::string_view("−").size());
  return !text.empty() && (text.front() == '-' || text.front() == '+' ||
                           (text.front() >= '0' && text.front() <= '9'));
}

std::string_view verdict_class(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNeutral:
      return "figure";
    case Verdict::kGood:
      return "figure good";
    case Verdict::kBad:
      return "figure bad";
  }
  return "figure";
}

std::string_view verdict_sign(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNeutral:
      return "";
    case Verdict::kGood:
      return R"( <span class="sign" role="img" aria-label="reached">✓</span>)";
    case Verdict::kBad:
      return R"( <span class="sign" role="img" aria-label="missed">✗</span>)";
  }
  return "";
}

// A column of numbers, some of which may be missing.
bool is_numeric(const ReportTable& table, std::size_t column) {
  bool has_number = false;
  for (const std::vector<std::string>& row : table.rows) {
    const std::string& cell = row[column];
    if (looks_like_number(cell))
      has_number = true;
    else if (!cell.empty() && cell != "–")
      return false;
  }
  return has_number;
}

std::string table_row(const ReportTable& table, const std::vector<std::string>& cells,
                      std::string_view tag) {
  std::string row = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    row += fmt::format("<{}{}>{}</{}>", tag, is_numeric(table, i) ? R"( class="n")" : "",
                       escape_markup(cells[i]), tag.substr(0, 2));
  return row + "</tr>\n";
}

std::string caption_of(std::string_view caption) {
  return caption.empty() ? std::string()
                         : fmt::format("<figcaption>{}</figcaption>", escape_markup(caption));
}

}  // namespace

HtmlReport::HtmlReport(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void HtmlReport::open_section(std::string_view heading) {
  sections_.push_back({std::string(heading), {}});
}

void HtmlReport::add(std::string_view markup) {
  if (sections_.empty()) sections_.emplace_back();
  sections_.back().body += markup;
  sections_.back().body += '\n';
}

void HtmlReport::add_paragraph(std::string_view text) {
  add(fmt::format("<p>{}</p>", escape_markup(text)));
}

void HtmlReport::add_key_figures(std::span<const KeyFigure> figures) {
  std::string markup = R"(<dl class="figures">)";
  for (const KeyFigure& figure : figures) {
    markup += fmt::format(R"(<div class="{}"><dt>{}</dt><dd>{}{}</dd>)",
                          verdict_class(figure.verdict), escape_markup(figure.label),
                          escape_markup(figure.value), verdict_sign(figure.verdict));
    if (!figure.note.empty())
      markup += fmt::format(R"(<dd class="note">{}</dd>)", escape_markup(figure.note));
    markup += "</div>";
  }
  add(markup + "</dl>");
}

void HtmlReport::add_table(const ReportTable& table) {
  std::string markup = R"(<div class="wide" tabindex="0" role="group" aria-label=")" +
                       escape_markup(table.caption.empty() ? "table" : table.caption) +
                       "\"><table>";
  if (!table.caption.empty())
    markup += fmt::format("<caption>{}</caption>", escape_markup(table.caption));
  for (const std::vector<std::string>& row : table.rows)
    check_invariant(row.size() == table.header.size(), "a table row of another width");
  markup += fmt::format("<thead>{}</thead>\n<tbody>\n",
                        table_row(table, table.header, R"(th scope="col")"));
  for (const std::vector<std::string>& row : table.rows) markup += table_row(table, row, "td");
  add(markup + "</tbody></table></div>");
}

void HtmlReport::add_chart(std::string_view svg, std::string_view caption) {
  add(fmt::format("<figure>{}{}</figure>", svg, caption_of(caption)));
}

void HtmlReport::add_sound(std::span<const std::byte> wav, std::string_view caption) {
  add(fmt::format(
      R"(<figure class="sound"><audio controls preload="metadata" aria-label="{}" src="{}">)"
      "</audio>{}</figure>",
      escape_markup(caption), data_uri("audio/wav", wav), caption_of(caption)));
}

void HtmlReport::add_code(std::string_view text) {
  // Line by line, since escaping would show the line ends.
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += escape_markup(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  add(fmt::format(R"(<pre tabindex="0"><code>{}</code></pre>)", lines));
}

std::string HtmlReport::finish() const {
  std::string contents;
  std::string body;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    if (section.heading.empty()) {
      body += fmt::format("<section>\n{}</section>\n", section.body);
      continue;
    }
    const std::string heading = escape_markup(section.heading);
    contents += fmt::format(R"(<li><a href="#s{}">{}</a></li>)", i, heading);
    body +=
        fmt::format("<section aria-labelledby=\"s{0}\">\n<h2 id=\"s{0}\">{1}</h2>\n{2}</section>\n",
                    i, heading, section.body);
  }
  return fmt::format(kPage, fmt::arg("title", escape_markup(title_)),
                     fmt::arg("subtitle", escape_markup(subtitle_)), fmt::arg("style", kPageStyle),
                     fmt::arg("contents", contents), fmt::arg("body", body));
}

}  // namespace stoker
