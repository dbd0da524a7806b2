// Text that must stay inside its box: its greatest width, and its line breaks. A picture without scripts
// cannot ask the browser which font it has, so widths are those of a wide one (DejaVu Sans): with any other
// there is room left.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// Of one line of UTF-8, in the unit of `size`, which is the font's.
double text_width(std::string_view text, double size);

// Lines of at most `width`, broken after blanks and after the characters that separate the parts of names, or
// in the middle of a word without these. No more than `lines`: the last one ends in "…" where text is left
// out. REQUIRES: lines > 0.
std::vector<std::string> text_lines(std::string_view text, double width, double size, std::size_t lines);

// The lines of `words` as <text> elements of class `type`, at `x`, from `y` down, which moves below them.
struct TextBlock {
  double width;
  double size;
  std::size_t lines;
  double x;
};
std::string text_elements(std::string_view words, const TextBlock& block, std::string_view type, double& y);

// A whole picture: an <svg> element of class "chart" with the style of all charts, and `definitions` in front
// of the body.
std::string chart_svg(const std::string& title, double width, double height, std::string_view definitions,
                      const std::string& body);

// Numbers as figures and tables show them.

// Four digits that count: 93.71, 220.6, 1,235, 0.01235. Whole numbers from 1,000 on have their thousands set
// apart.
std::string number_text(double value);

// A ratio of times: "1.13", "0.71", "12.4".
std::string ratio_text(double ratio);

// Bytes as "512 MB"; "" for 0, which is what is not known.
std::string memory_text(double bytes);

}  // namespace kiln
