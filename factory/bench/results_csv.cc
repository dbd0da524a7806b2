#include "factory/bench/results_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kMostBytes = 512u << 10;  // the largest table of 2026 has 99 kB
constexpr std::size_t kLongestLine = 4096;      // bytes; the longest of 2026 has 150
constexpr const char* kIsItOne = "is this a results table?";

// The first byte that a table of this text may not have; npos.
std::size_t first_refused(std::string_view line, ResultsText text) {
  if (text == ResultsText::ascii) {
    const auto found = std::ranges::find_if(
        line, [](char c) { return is_control(c) || static_cast<unsigned char>(c) > 0x7e; });
    return found == line.end() ? line.npos : static_cast<std::size_t>(found - line.begin());
  }
  if (const std::size_t wrong = first_not_utf8(line); wrong != line.npos) return wrong;
  const std::string shown = on_one_line(line);
  if (shown == line) return line.npos;
  return static_cast<std::size_t>(std::ranges::mismatch(line, shown).in1 - line.begin());
}

void need_plain_line(std::string_view text, int line, const std::string& file, ResultsText kind) {
  if (text.size() > kLongestLine)
    refuse_results(file, line, static_cast<int>(kLongestLine) + 1,
                   fmt::format("the line has {} bytes; a line has at most {}", text.size(), kLongestLine),
                   kIsItOne);
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (const std::size_t wrong = first_refused(text, kind); wrong != text.npos)
    refuse_results(file, line, static_cast<int>(wrong) + 1,
                   kind == ResultsText::ascii ? "a table has printable ASCII characters only"
                                              : "a table has visible characters of UTF-8 only",
                   kIsItOne);
}

std::size_t column_of(std::string_view name, const ResultsLayout& layout) {
  if (name.starts_with(layout.prefix)) name.remove_prefix(layout.prefix.size());
  const auto found = std::ranges::find(layout.columns, name, &ResultsColumn::name);
  return found == layout.columns.end() ? ResultsPlaces::kMissing
                                       : static_cast<std::size_t>(found - layout.columns.begin());
}

std::vector<std::string> column_names(const ResultsLayout& layout) {
  std::vector<std::string> names;
  for (const ResultsColumn& column : layout.columns) {
    names.emplace_back(column.name);
    if (!layout.prefix.empty()) names.push_back(fmt::format("{}{}", layout.prefix, column.name));
  }
  return names;
}

// "it needs model, img_size and batch_size".
std::string needed_columns(const ResultsLayout& layout) {
  std::vector<std::string_view> names;
  for (const ResultsColumn& column : layout.columns)
    if (column.needed) names.push_back(column.name);
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("it needs {} and {}", fmt::join(names, ", "), last);
}

}  // namespace

void refuse_results(const std::string& file, int line, int column, const std::string& why,
                    const std::string& hint) {
  throw Error(ExitCode::input, {file, line, column, ""}, why, hint);
}

std::vector<CsvRow> results_rows(std::string_view text, const std::string& file,
                                 const ResultsLayout& layout) {
  if (text.starts_with("\xEF\xBB\xBF"))
    refuse_results(file, 1, 1, "the table begins with a byte order mark", "remove the first three bytes");
  if (text.size() > kMostBytes)
    refuse_results(file, 1, 1,
                   fmt::format("the table has {} bytes; a table has at most {}", text.size(), kMostBytes),
                   kIsItOne);
  int line = 0;
  for (const std::string_view one : split(text, '\n')) need_plain_line(one, ++line, file, layout.text);
  std::vector<CsvRow> rows = csv_rows(text, file);
  if (rows.empty()) refuse_results(file, 1, 1, "the table is empty", kIsItOne);
  return rows;
}

ResultsPlaces results_places(const CsvRow& header, const std::string& file, const ResultsLayout& layout) {
  ResultsPlaces places{std::vector<std::size_t>(layout.columns.size(), ResultsPlaces::kMissing),
                       header.fields.size()};
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    const std::string& name = header.fields[i];
    const std::size_t column = column_of(name, layout);
    if (column == ResultsPlaces::kMissing)
      refuse_results(file, header.line, header.columns[i],
                     fmt::format("{}'s tables have no column '{}'", layout.project, name),
                     did_you_mean(name, column_names(layout)));
    if (places.of[column] != ResultsPlaces::kMissing)
      refuse_results(file, header.line, header.columns[i], fmt::format("a second column '{}'", name));
    places.of[column] = i;
  }
  for (std::size_t column = 0; column < places.of.size(); ++column)
    if (layout.columns[column].needed && places.of[column] == ResultsPlaces::kMissing)
      refuse_results(file, header.line, 1,
                     fmt::format("the table has no column '{}'", layout.columns[column].name),
                     needed_columns(layout));
  return places;
}

ResultsRow::ResultsRow(const CsvRow& row, const ResultsPlaces& places, const std::string& file,
                       const ResultsLayout& layout)
    : row_(row), places_(places), file_(file), layout_(layout) {
  if (row.fields.size() != places.fields)
    refuse_results(file, row.line, 1,
                   fmt::format("expected {} fields, found {}", places.fields, row.fields.size()));
}

const std::string& ResultsRow::text(std::size_t column) const {
  static const std::string kNothing;
  const std::size_t place = places_.of[column];
  return place == ResultsPlaces::kMissing ? kNothing : row_.fields[place];
}

double ResultsRow::number(std::size_t column) const {
  const std::string& field = text(column);
  const ResultsColumn& is = layout_.columns[column];
  double value = 0;
  const char* end = field.data() + field.size();
  const auto [rest, problem] = std::from_chars(field.data(), end, value);
  if (field.empty() || rest != end || problem != std::errc{} || !std::isfinite(value) || value <= 0 ||
      value > is.most)
    complain(column,
             fmt::format("{}: expected a number over 0, {:g} at most, found '{}'", is.name, is.most, field),
             "nothing was imported");
  return value;
}

std::string ResultsRow::network(std::size_t column, std::string_view name) const {
  constexpr std::size_t kLongest = 128;
  const bool plain = std::ranges::all_of(
      name, [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
  if (name.empty() || name.size() > kLongest || !plain)
    complain(column, fmt::format("'{}' is not the name of a network", name.substr(0, kLongest)),
             "a name has letters, digits, '.', '_' and '-', 128 at most");
  return std::string(name);
}

void ResultsRow::complain(std::size_t column, const std::string& why, const std::string& hint) const {
  const std::size_t place = places_.of[column];
  refuse_results(file_, row_.line, place == ResultsPlaces::kMissing ? 1 : row_.columns[place], why, hint);
}

}  // namespace kiln
