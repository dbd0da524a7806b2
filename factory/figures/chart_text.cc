#include "factory/figures/chart_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "factory/base/quote.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::string_view kEllipsis = "…";

// Blue, orange and bluish green of Okabe and Ito (Color Universal Design, 2008); of grey print they are a
// dark, a light and a middle tone, and two of them have a pattern.
constexpr std::string_view kChartStyle = R"(
.chart text{font-family:system-ui,"DejaVu Sans",sans-serif;fill:#1a1a1a;stroke:#fff;stroke-width:3px;paint-order:stroke;stroke-linejoin:round}
.chart .title{font-size:15px;font-weight:600}.chart .group{font-size:13px;font-weight:600}
.chart .label{font-size:12.5px}.chart .soft{font-size:11px;fill:#555}.chart .mark{font-size:11px;font-weight:600}
.chart .value{font-size:11px;font-weight:600}.chart .tick{font-size:11px;fill:#555;text-anchor:middle}
.chart .tick.first{text-anchor:start}.chart .paper{fill:#fff}
.chart .stock{fill:#0072b2}.chart .built{fill:#e69f00}.chart .compiled{fill:#009e73}
.chart .marked{stroke:#1a1a1a;stroke-width:1.5;stroke-dasharray:4 3}
.chart .line{stroke:#ddd}.chart .zero{stroke:#555}
.chart .gap{fill:none;stroke:#777;stroke-dasharray:3 3}
.chart .whisker{stroke:#000;stroke-width:1.5;fill:none}.chart .halo{stroke:#fff;stroke-width:4;fill:none}
@media (prefers-color-scheme:dark){.chart text{fill:#eee;stroke:#16181d}.chart .soft,.chart .tick{fill:#bbb}
.chart .paper{fill:#16181d}.chart .line{stroke:#3a3d44}.chart .zero{stroke:#bbb}.chart .gap{stroke:#999}
.chart .stock{fill:#56b4e9}.chart .marked{stroke:#eee}}
@media print{.chart text{fill:#1a1a1a;stroke:#fff}.chart .soft,.chart .tick{fill:#555}.chart .paper{fill:#fff}}
)";

// Of a character that begins with this byte, in parts of the font's size.
double width_of(char first) {
  constexpr std::string_view kNarrow = " .,:;|!'()[]/\\ijlIft-";
  constexpr std::string_view kWide = "mwMW@%";
  if (static_cast<unsigned char>(first) >= 0xe0) return 1.05;  // CJK and pictures: a square
  if (kWide.find(first) != kWide.npos) return 1.0;
  if (kNarrow.find(first) != kNarrow.npos) return 0.42;
  if (first >= 'A' && first <= 'Z') return 0.78;
  return 0.66;
}

std::size_t character_length(std::string_view text, std::size_t at) {
  std::size_t length = 1;
  while (at + length < text.size() && (static_cast<unsigned char>(text[at + length]) & 0xc0) == 0x80)
    ++length;
  return length;
}

bool breaks_after(char c) { return std::string_view(" -_/:+,@").find(c) != std::string_view::npos; }

// How many bytes of the text, which begins a line, stand in it.
std::size_t line_length(std::string_view text, double width, double size) {
  double used = 0;
  std::size_t end = 0, after_break = 0;
  while (end < text.size()) {
    used += width_of(text[end]) * size;
    if (used > width && end > 0 && text[end] != ' ') return after_break > 0 ? after_break : end;
    const std::size_t next = end + character_length(text, end);
    if (breaks_after(text[end])) after_break = next;
    end = next;
  }
  return end;
}

std::string cut_short(std::string_view text, double width, double size) {
  const std::size_t length = line_length(text, width - text_width(kEllipsis, size), size);
  return std::string(trimmed(text.substr(0, length))) + std::string(kEllipsis);
}

std::string with_thousands(std::string digits) {
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace

std::string text_elements(std::string_view words, const TextBlock& block, std::string_view type, double& y) {
  std::string elements;
  for (const std::string& line : text_lines(words, block.width, block.size, block.lines)) {
    y += block.size * 1.3;
    elements += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", type, block.x,
                            y - block.size * 0.3, markup_text(line));
  }
  return elements;
}

std::string chart_svg(const std::string& title, double width, double height, std::string_view definitions,
                      const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n<style>{3}{4}\n"
      "<rect class=\"paper\" width=\"{0}\" height=\"{1:.0f}\"/>\n{5}</svg>\n",
      width, height, markup_text(title), kChartStyle, definitions, body);
}

double text_width(std::string_view text, double size) {
  double width = 0;
  for (std::size_t at = 0; at < text.size(); at += character_length(text, at))
    width += width_of(text[at]) * size;
  return width;
}

std::vector<std::string> text_lines(std::string_view text, double width, double size, std::size_t lines) {
  std::vector<std::string> broken;
  std::string_view rest = trimmed(text);
  while (!rest.empty()) {
    const std::size_t length = line_length(rest, width, size);
    if (broken.size() + 1 == lines && length < rest.size()) {
      broken.push_back(cut_short(rest, width, size));
      break;
    }
    broken.emplace_back(trimmed(rest.substr(0, length)));
    rest = trimmed(rest.substr(length));
  }
  return broken;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "?";
  if (value < 0) return "-" + number_text(-value);
  if (value == 0) return "0";
  if (value >= 999.95) return with_thousands(fmt::format("{:.0f}", value));
  const int whole = static_cast<int>(std::floor(std::log10(value))) + 1;  // digits before the point
  return fmt::format("{:.{}f}", value, std::clamp(4 - whole, 1, 9));
}

std::string ratio_text(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 9.995 ? 2 : 1); }

std::string memory_text(double bytes) {
  if (bytes <= 0) return "";
  return bytes < 9.95e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
}

}  // namespace kiln
