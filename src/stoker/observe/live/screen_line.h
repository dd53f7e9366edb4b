// One line of a terminal: text whose columns are counted, so that no line is ever wider than its
// window, and nothing in it can steer the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoker::observe {

struct ScreenStyle {
  bool shows_unicode = true;
  bool shows_colour = true;
};

enum class Tint { kNone, kBold, kDim, kGood, kWarn, kBad };

// Columns that a terminal takes for valid UTF-8 text: 2 for wide characters, 0 for marks.
std::size_t columns_of(std::string_view text);

// Text made safe: control characters, those that turn the direction of writing and bytes that are
// not UTF-8 become \xNN; without Unicode everything beyond ASCII becomes '?'.
std::string safe_text(std::string_view text, bool shows_unicode);

// The end of a long path: "…clips/long_name.wav".
std::string last_columns(std::string_view text, std::size_t num_columns, bool shows_unicode);

class ScreenLine {
 public:
  ScreenLine(const ScreenStyle& style, std::size_t num_columns)
      : style_(style), num_columns_(num_columns) {}

  // What does not fit is cut. `text` may come from anywhere.
  ScreenLine& add(std::string_view text, Tint tint = Tint::kNone);
  // Spaces up to that column.
  ScreenLine& move_to(std::size_t column);
  // A bar for a share from 0 to 1.
  ScreenLine& bar(double share, std::size_t num_columns, Tint tint = Tint::kNone);

  std::size_t column() const { return column_; }
  std::size_t room() const { return num_columns_ - column_; }
  const ScreenStyle& style() const { return style_; }
  const std::string& text() const { return text_; }

 private:
  void put(std::string_view safe, Tint tint);

  ScreenStyle style_;
  std::size_t num_columns_;
  std::size_t column_ = 0;
  std::string text_;
};

}  // namespace stoker::observe
