#include "factory/sbom/control_file.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln::sbom {
namespace {

constexpr std::size_t kMostFields = 10'000;
constexpr std::size_t kMostParagraph = 4u << 20;

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

}  // namespace

const std::string& ControlParagraph::at(std::string_view name) const {
  static const std::string kNothing;
  auto found = std::ranges::find_if(fields_, [&](const auto& field) { return same(field.first, name); });
  return found == fields_.end() ? kNothing : found->second;
}

std::vector<std::string> ControlParagraph::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [field, value] : fields_)
    if (same(field, name)) values.push_back(value);
  return values;
}

std::string_view ControlReader::line() {
  ++line_;
  std::string_view line = rest_.substr(0, rest_.find('\n'));
  rest_.remove_prefix(std::min(rest_.size(), line.size() + 1));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<ControlParagraph> ControlReader::next() {
  ControlParagraph paragraph;
  std::size_t fields = 0;
  std::size_t bytes = 0;
  while (!rest_.empty()) {
    std::string_view text = line();
    bytes += text.size();
    auto bad = [&](const char* what) {
      throw Error(ExitCode::input, fmt::format("line {}: {}", line_, what));
    };
    if (text.starts_with('#')) continue;
    bool continued = text.starts_with(' ') || text.starts_with('\t');
    if (is_blank(text) && !(continued && !paragraph.empty() && !rest_.empty())) {
      if (!paragraph.empty()) break;
      continue;
    }
    if (bytes > kMostParagraph) bad("a paragraph of more than 4 MiB");
    if (continued) {
      if (paragraph.empty()) bad("continues a field, but there is none before it");
      paragraph.extend_last(text.substr(1));
      continue;
    }
    std::size_t colon = text.find(':');
    if (colon == 0 || colon == text.npos) bad("expected \"Name: value\"");
    if (++fields > kMostFields) bad("a paragraph of more than 10 000 fields");
    paragraph.add(std::string(trimmed(text.substr(0, colon))), std::string(trimmed(text.substr(colon + 1))));
  }
  if (paragraph.empty()) return std::nullopt;
  return paragraph;
}

}  // namespace kiln::sbom
