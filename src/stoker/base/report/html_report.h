// A report as one HTML file that needs nothing else: charts, tables and sound are inside.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// How a figure is to be read; shown by colour and by a sign.
enum class Verdict { kNeutral, kGood, kBad };

struct KeyFigure {
  std::string label;   // "clips per second"
  std::string value;   // "7,180"
  std::string note{};  // "target 6,500"; may be empty
  Verdict verdict = Verdict::kNeutral;
};

// Columns that hold only numbers are set to the right.
struct ReportTable {
  std::string caption{};
  std::vector<std::string> header{};
  std::vector<std::vector<std::string>> rows{};  // each as long as the header
  bool are_facts = false;  // rows of unlike things: nothing is set to the right
};

// What a page says by itself, in its language.
struct PageWords {
  std::string_view language = "en";
  std::string_view direction = "ltr";
  std::string_view skip = "Skip to the content";
  std::string_view sections = "Sections";
  std::string_view table = "table";
  std::string_view as_table = "The same as a table";
  std::string_view reached = "reached";
  std::string_view missed = "missed";
};

// Returns the <svg> of a chart that is that many pixels wide.
using DrawChart = std::function<std::string(unsigned width)>;

// All text given is escaped; only what a chart draws is taken unchanged. Content goes into the
// section that was opened last.
class HtmlReport {
 public:
  HtmlReport(std::string title, std::string subtitle, const PageWords& words = {});

  void open_section(std::string_view heading);
  void add_paragraph(std::string_view text);
  // The one sentence that a page is about.
  void add_lead(std::string_view text, Verdict verdict);
  void add_list(std::span<const std::string> lines);
  void add_key_figures(std::span<const KeyFigure> figures);
  void add_table(const ReportTable& table);
  // Drawn twice, for wide screens and for narrow ones: letters of a wide chart that is scaled to a
  // phone's width cannot be read.
  void add_chart(const DrawChart& draw, std::string_view caption);
  // The same with its figures as a table that opens below it; figures.h makes both from the data.
  void add_chart(const DrawChart& draw, std::string_view caption, const ReportTable& figures);
  // `file` is a whole WAV or FLAC file.
  void add_sound(std::span<const std::byte> file, std::string_view caption);
  void add_code(std::string_view text);

  // The page: valid HTML 5, at home on small screens, on dark ones and on paper, no script, and a
  // policy that forbids every outside resource.
  std::string finish() const;

 private:
  struct Section {
    std::string heading;
    std::string body;
  };
  void add(std::string_view markup);
  std::string table_markup(const ReportTable& table) const;
  std::string chart_markup(const DrawChart& draw) const;
  // dir="ltr" for text that would be turned round in a page from right to left.
  std::string_view direction_of(std::string_view text) const;

  std::string title_;
  std::string subtitle_;
  PageWords words_;
  std::vector<Section> sections_;
};

}  // namespace stoker
