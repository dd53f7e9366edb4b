#include "stoker/base/report/html_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/bytes.h"
#include "stoker/base/invariant.h"
#include "stoker/base/report/markup.h"

namespace stoker {
namespace {

constexpr unsigned kWideChart = 840;
constexpr unsigned kNarrowChart = 340;

// Named places: language, direction, skip, sections, title, subtitle, style, contents, body.
constexpr std::string_view kPage = R"x(<!DOCTYPE html>
<html lang="{language}" dir="{direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">{skip}</a>
<header><div class="page"><h1>{title}</h1><p>{subtitle}</p>
<nav aria-label="{sections}"><ul>{contents}</ul></nav></div></header>
<main id="main" class="page">
{body}</main>
</body>
</html>
)x";

constexpr std::string_view kPageStyle = R"x(
:root{--ink:#1f2328;--soft:#59636e;--line:#d8dee4;--ground:#f6f7f9;--card:#ffffff;--accent:#c2410c;
--good:#1a7f4b;--bad:#c62828}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#2b333d;--ground:#0a0e13;
--card:#0f141a;--accent:#ff9d4d;--good:#4ed58a;--bad:#ff8a80}}
*{box-sizing:border-box}
html{scroll-behavior:smooth}
body{margin:0;background:var(--ground);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
.page{max-width:66rem;margin:0 auto;padding:0 1.25rem}
header{border-bottom:1px solid var(--line);background:var(--card);border-top:4px solid var(--accent)}
header .page{padding-top:1.5rem;padding-bottom:1rem}
h1{margin:0;font-size:1.75rem;line-height:1.2;letter-spacing:-.01em}
header p{margin:.35rem 0 0;color:var(--soft)}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;list-style:none;margin:.9rem 0 0;padding:0}
nav:has(ul:empty){display:none}
a{color:var(--accent)}
a:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.skip{position:absolute;inset-inline-start:-99rem}
.skip:focus{inset-inline-start:1rem;top:.5rem;background:var(--card);padding:.5rem 1rem;z-index:1}
section{margin:1.75rem 0 2.5rem}
h2{font-size:1.25rem;margin:0 0 .75rem;scroll-margin-top:1rem}
p{margin:.5rem 0 1rem;max-width:46rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.75rem;margin:1rem 0}
.figure{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.8rem .85rem;
border-inline-start:4px solid var(--line)}
.figure dt{color:var(--soft);font-size:.85rem}
.figure dd{margin:.15rem 0 0;font-size:1.25rem;font-weight:650;font-variant-numeric:tabular-nums;line-height:1.25}
.figure dd.note{font-size:.85rem;font-weight:400;color:var(--soft)}
.good{border-inline-start-color:var(--good)}.good .sign{color:var(--good)}
.bad{border-inline-start-color:var(--bad)}.bad .sign{color:var(--bad)}
.wide{overflow-x:auto;margin:1rem 0;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
table{border-collapse:collapse;width:100%;font-size:.92rem}
caption{text-align:start;color:var(--soft);padding:.7rem 1rem .3rem;font-size:.9rem}
th,td{text-align:start;padding:.45rem 1rem;border-top:1px solid var(--line);vertical-align:top}
thead th{border-top:0;font-weight:600;vertical-align:bottom}
td{overflow-wrap:anywhere}
.n{text-align:end;font-variant-numeric:tabular-nums}
td.n{white-space:nowrap}
tbody tr:hover{background:color-mix(in srgb,var(--accent) 6%,transparent)}
figure{margin:1rem 0;background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.5rem;overflow:hidden}
figure svg,figure img{display:block;margin:0 auto;max-width:100%;height:auto}
figure svg.stk{background:transparent!important}
.on-narrow{display:none}
figcaption{color:var(--soft);font-size:.9rem;padding:.35rem .5rem .2rem}
.lead{font-size:1.2rem;line-height:1.45;font-weight:600;max-width:none;margin:.25rem 0 1rem;padding:.8rem 1rem;
background:var(--card);border:1px solid var(--line);border-inline-start:6px solid var(--line);border-radius:.6rem}
.lead.good{border-inline-start-color:var(--good)}.lead.bad{border-inline-start-color:var(--bad)}
main ul{max-width:46rem;padding-inline-start:1.25rem}
details{margin:.35rem 0 .2rem}
figcaption table{color:var(--ink)}
summary{cursor:pointer;color:var(--soft);font-size:.9rem}
details .wide{margin:.5rem 0 .25rem;max-height:24rem;overflow:auto}
[dir=rtl] td[dir=ltr],[dir=rtl] dd[dir=ltr]{text-align:right}
[dir=rtl] td.n,[dir=rtl] th.n{text-align:left}
[dir=rtl] h1{letter-spacing:0}
audio{width:100%;display:block}
pre{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.8rem 1rem;overflow-x:auto;
font:.88rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media(max-width:46rem){.on-wide{display:none}.on-narrow{display:block}.page{padding:0 .75rem}
th,td{padding:.4rem .6rem}td:not(.n){min-width:8rem}}
@media print{body{background:#fff;font-size:11pt}nav,summary,.skip{display:none}h2{break-after:avoid}
figure,tr,.figure,.lead{break-inside:avoid}.wide{overflow:visible}section{margin:1rem 0}
.on-wide{display:block!important}.on-narrow{display:none!important}}
)x";

// A figure, with its unit or two; a sentence that begins with one is none.
bool looks_like_number(std::string_view text) {
  constexpr std::ptrdiff_t kMostLetters = 6;
  const auto is_letter = [](unsigned char c) { return c >= 'A' && c != 0xE2 && c < 0xF0; };
  if (text.empty() || std::count_if(text.begin(), text.end(), is_letter) > kMostLetters)
    return false;
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

std::string verdict_sign(Verdict verdict, const PageWords& words) {
  if (verdict == Verdict::kNeutral) return {};
  const bool is_good = verdict == Verdict::kGood;
  return fmt::format(R"( <span class="sign" role="img" aria-label="{}">{}</span>)",
                     is_good ? words.reached : words.missed, is_good ? "✓" : "✗");
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

std::string caption_of(std::string_view caption) {
  return caption.empty() ? std::string()
                         : fmt::format("<figcaption>{}</figcaption>", escape_markup(caption));
}

}  // namespace

HtmlReport::HtmlReport(std::string title, std::string subtitle, const PageWords& words)
    : title_(std::move(title)), subtitle_(std::move(subtitle)), words_(words) {}

std::string_view HtmlReport::direction_of(std::string_view text) const {
  const bool is_turned = words_.direction == "rtl" && !has_right_to_left_letter(text);
  return is_turned ? R"( dir="ltr")" : "";
}

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

void HtmlReport::add_lead(std::string_view text, Verdict verdict) {
  const std::string_view kind = verdict == Verdict::kGood  ? " good"
                                : verdict == Verdict::kBad ? " bad"
                                                           : "";
  add(fmt::format(R"(<p class="lead{}">{}</p>)", kind, escape_markup(text)));
}

void HtmlReport::add_list(std::span<const std::string> lines) {
  std::string markup = "<ul>";
  for (const std::string& line : lines) markup += fmt::format("<li>{}</li>", escape_markup(line));
  add(markup + "</ul>");
}

void HtmlReport::add_key_figures(std::span<const KeyFigure> figures) {
  std::string markup = R"(<dl class="figures">)";
  for (const KeyFigure& figure : figures) {
    markup +=
        fmt::format(R"(<div class="{}"><dt>{}</dt><dd{}>{}{}</dd>)", verdict_class(figure.verdict),
                    escape_markup(figure.label), direction_of(figure.value),
                    escape_markup(figure.value), verdict_sign(figure.verdict, words_));
    if (!figure.note.empty())
      markup += fmt::format(R"(<dd class="note">{}</dd>)", escape_markup(figure.note));
    markup += "</div>";
  }
  add(markup + "</dl>");
}

std::string HtmlReport::table_markup(const ReportTable& table) const {
  std::vector<bool> numeric(table.header.size());
  for (std::size_t i = 0; i < numeric.size(); ++i) {
    for (const std::vector<std::string>& row : table.rows)
      check_invariant(row.size() == table.header.size(), "a table row of another width");
    numeric[i] = !table.are_facts && is_numeric(table, i);
  }
  const auto row_markup = [&](const std::vector<std::string>& cells, std::string_view tag) {
    std::string row = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      row += fmt::format("<{}{}{}>{}</{}>", tag, numeric[i] ? R"( class="n")" : "",
                         direction_of(cells[i]), escape_markup(cells[i]), tag.substr(0, 2));
    return row + "</tr>\n";
  };
  std::string markup = fmt::format(
      R"(<div class="wide" tabindex="0" role="group" aria-label="{}"><table>)",
      escape_markup(table.caption.empty() ? words_.table : std::string_view(table.caption)));
  if (!table.caption.empty())
    markup += fmt::format("<caption>{}</caption>", escape_markup(table.caption));
  markup +=
      fmt::format("<thead>{}</thead>\n<tbody>\n", row_markup(table.header, R"(th scope="col")"));
  for (const std::vector<std::string>& row : table.rows) markup += row_markup(row, "td");
  return markup + "</tbody></table></div>";
}

void HtmlReport::add_table(const ReportTable& table) { add(table_markup(table)); }

std::string HtmlReport::chart_markup(const DrawChart& draw) const {
  return fmt::format(R"(<div class="on-wide">{}</div><div class="on-narrow">{}</div>)",
                     draw(kWideChart), draw(kNarrowChart));
}

void HtmlReport::add_chart(const DrawChart& draw, std::string_view caption) {
  add(fmt::format("<figure>{}{}</figure>", chart_markup(draw), caption_of(caption)));
}

void HtmlReport::add_chart(const DrawChart& draw, std::string_view caption,
                           const ReportTable& figures) {
  add(fmt::format(
      "<figure>{}<figcaption>{}<details><summary>{}</summary>{}</details></figcaption></figure>",
      chart_markup(draw), escape_markup(caption), escape_markup(words_.as_table),
      table_markup(figures)));
}

void HtmlReport::add_sound(std::span<const std::byte> file, std::string_view caption) {
  const bool is_flac = view_text(file).starts_with("fLaC");
  add(fmt::format(
      R"(<figure class="sound"><audio controls preload="metadata" aria-label="{}" src="{}">)"
      "</audio>{}</figure>",
      escape_markup(caption), data_uri(is_flac ? "audio/flac" : "audio/wav", file),
      caption_of(caption)));
}

void HtmlReport::add_code(std::string_view text) {
  // Line by line, since escaping would show the line ends.
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += escape_markup(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  add(fmt::format(R"(<pre tabindex="0" dir="ltr"><code>{}</code></pre>)", lines));
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
  return fmt::format(
      kPage, fmt::arg("language", words_.language), fmt::arg("direction", words_.direction),
      fmt::arg("skip", escape_markup(words_.skip)),
      fmt::arg("sections", escape_markup(words_.sections)),
      fmt::arg("title", escape_markup(title_)), fmt::arg("subtitle", escape_markup(subtitle_)),
      fmt::arg("style", kPageStyle), fmt::arg("contents", contents), fmt::arg("body", body));
}

}  // namespace stoker
