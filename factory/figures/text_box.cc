#include "factory/figures/text_box.h"

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::string_view kEllipsis = "…";

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

}  // namespace

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

}  // namespace kiln
