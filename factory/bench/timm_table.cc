#include "factory/bench/timm_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <tuple>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/bench/csv_rows.h"

namespace kiln {
namespace {

constexpr std::size_t kMostBytes = 512u << 10;  // the largest table of 2026 has 99 kB
constexpr std::size_t kLongestLine = 4096;      // bytes; the longest of 2026 has 90
// Rate and time are rounded, and on a CPU a mean of rates and a rate of means: 6 % apart at most in 2026.
constexpr double kApart = 0.15;

// The columns by their places in TimmColumns; `most` is far beyond any network or machine.
struct TimmColumn {
  std::string_view name;  // without "infer_"
  double most;
  bool needed;
};
enum TimmPlace : std::size_t { kModel, kSize, kBatch, kRate, kTime, kParameters, kMacs, kActivations };
constexpr TimmColumn kTimmColumns[] = {{"model", 0, true},        {"img_size", 65'536, true},
                                       {"batch_size", 1e6, true}, {"samples_per_sec", 1e9, true},
                                       {"step_time", 1e9, true},  {"param_count", 1e9, true},
                                       {"gmacs", 1e9, false},     {"macts", 1e9, false}};
constexpr std::size_t kMissing = static_cast<std::size_t>(-1);
using TimmColumns = std::vector<std::size_t>;  // where each of kTimmColumns is; kMissing

[[noreturn]] void fail(const std::string& file, int line, int column, const std::string& why,
                       const std::string& hint = "") {
  throw Error(ExitCode::input, {file, line, column, ""}, why, hint);
}

void need_plain_lines(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF"))
    fail(file, 1, 1, "the table begins with a byte order mark", "remove the first three bytes");
  if (text.size() > kMostBytes)
    fail(file, 1, 1, fmt::format("the table has {} bytes; a table has at most {}", text.size(), kMostBytes),
         "is this a results table?");
  int line = 0;
  for (const std::string_view one : split(text, '\n')) {
    ++line;
    if (one.size() > kLongestLine)
      fail(file, line, static_cast<int>(kLongestLine) + 1,
           fmt::format("the line has {} bytes; a line has at most {}", one.size(), kLongestLine),
           "is this a results table?");
    for (std::size_t i = 0; i < one.size(); ++i)
      if (static_cast<signed char>(one[i]) < ' ' &&
          !(one[i] == '\r' && i + 1 == one.size()))  // bytes over 127 are negative
        fail(file, line, static_cast<int>(i) + 1, "a table has printable ASCII characters only",
             "is this a results table?");
  }
}

std::size_t place_of(std::string_view name) {
  if (name.starts_with("infer_")) name.remove_prefix(6);
  for (std::size_t i = 0; i < std::size(kTimmColumns); ++i)
    if (kTimmColumns[i].name == name) return i;
  return kMissing;
}

std::vector<std::string> column_names() {
  std::vector<std::string> names = {"model", "param_count"};
  for (const TimmColumn& column : kTimmColumns) names.push_back(fmt::format("infer_{}", column.name));
  return names;
}

TimmColumns columns_of(const CsvRow& header, const std::string& file) {
  TimmColumns columns(std::size(kTimmColumns), kMissing);
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    const std::string& name = header.fields[i];
    const std::size_t place = place_of(name);
    if (name.starts_with("train_"))
      fail(file, header.line, header.columns[i], fmt::format("'{}' is a column of training results", name),
           "import a table of inference: benchmark-infer-*.csv");
    if (place == kMissing)
      fail(file, header.line, header.columns[i], fmt::format("timm's tables have no column '{}'", name),
           did_you_mean(name, column_names()));
    if (columns[place] != kMissing)
      fail(file, header.line, header.columns[i], fmt::format("a second column '{}'", name));
    columns[place] = i;
  }
  for (std::size_t place = 0; place < columns.size(); ++place)
    if (kTimmColumns[place].needed && columns[place] == kMissing)
      fail(file, header.line, 1, fmt::format("the table has no column '{}'", kTimmColumns[place].name),
           "it needs model, img_size, batch_size, samples_per_sec, step_time and param_count");
  return columns;
}

class TimmRow {
 public:
  TimmRow(const CsvRow& row, const TimmColumns& columns, const std::string& file)
      : row_(row), columns_(columns), file_(file) {}

  // Nothing but the network: the project's own run of it failed.
  bool failed() const { return text(kRate).empty() && text(kTime).empty(); }

  ExternalRow read() const {
    ExternalRow read;
    read.network = network();
    read.input_size = whole(kSize);
    read.batch = whole(kBatch);
    read.seconds = number(kTime) / 1000;
    read.parameters = number(kParameters) * 1e6;
    if (text(kMacs).empty() != text(kActivations).empty())
      complain(text(kMacs).empty() ? kMacs : kActivations,
               "gmacs and macts are either both known or neither");
    if (!text(kMacs).empty()) {
      read.operations = number(kMacs) * 1e9;
      read.activations = number(kActivations) * 1e6;
    }
    const double by_rate = read.batch / number(kRate);
    if (std::abs(std::log(by_rate / read.seconds)) > kApart)
      complain(kTime, fmt::format("a step of {:g} samples at {} a second takes {:.4g} ms, not {}", read.batch,
                                  text(kRate), 1000 * by_rate, text(kTime)));
    return read;
  }

  [[noreturn]] void complain(TimmPlace place, const std::string& why, const std::string& hint = "") const {
    const std::size_t at = columns_[place];
    fail(file_, row_.line, at == kMissing ? 1 : row_.columns[at], why, hint);
  }

 private:
  const std::string& text(TimmPlace place) const {
    static const std::string kNothing;
    return columns_[place] == kMissing ? kNothing : row_.fields[columns_[place]];
  }

  std::string network() const {
    constexpr std::size_t kLongest = 128;
    const std::string& name = text(kModel);
    const bool plain = std::ranges::all_of(
        name, [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
    if (name.empty() || name.size() > kLongest || !plain)
      complain(kModel, fmt::format("'{}' is not the name of a network", name.substr(0, kLongest)),
               "a name has letters, digits, '.', '_' and '-', 128 at most");
    return name;
  }

  double number(TimmPlace place) const {
    const std::string& field = text(place);
    double value = 0;
    const char* end = field.data() + field.size();
    const auto [rest, problem] = std::from_chars(field.data(), end, value);
    if (field.empty() || rest != end || problem != std::errc{} || !std::isfinite(value) || value <= 0 ||
        value > kTimmColumns[place].most)
      complain(place,
               fmt::format("{}: expected a number over 0, {:g} at most, found '{}'", kTimmColumns[place].name,
                           kTimmColumns[place].most, field),
               "nothing was imported");
    return value;
  }

  double whole(TimmPlace place) const {
    const double value = number(place);
    if (value != std::floor(value))
      complain(place,
               fmt::format("{}: expected a whole number, found '{}'", kTimmColumns[place].name, text(place)));
    return value;
  }

  const CsvRow& row_;
  const TimmColumns& columns_;
  const std::string& file_;
};

// Two speeds of one network would count twice.
class SeenRows {
 public:
  void add(const ExternalRow& row, const TimmRow& where, int line) {
    const auto [seen, is_new] = lines_.emplace(std::tuple(row.network, row.input_size), line);
    if (!is_new)
      where.complain(kModel,
                     fmt::format("a second row of {} with inputs of {:g}; the first is line {}", row.network,
                                 row.input_size, seen->second),
                     "keep one of them");
  }

 private:
  std::map<std::tuple<std::string, double>, int> lines_;
};

void read_rows(const std::string& file, ExternalTable& table) {
  need_plain_lines(table.text, file);
  const std::vector<CsvRow> rows = csv_rows(table.text, file);
  if (rows.empty()) fail(file, 1, 1, "the table is empty", "is this a results table?");
  const TimmColumns columns = columns_of(rows.front(), file);
  SeenRows seen;
  for (const CsvRow& row : std::span(rows).subspan(1)) {
    if (row.fields.size() != rows.front().fields.size())
      fail(file, row.line, 1,
           fmt::format("expected {} fields, found {}", rows.front().fields.size(), row.fields.size()));
    const TimmRow one(row, columns, file);
    if (one.failed()) {
      ++table.failed;
      continue;
    }
    table.rows.push_back(one.read());
    seen.add(table.rows.back(), one, row.line);
  }
  if (table.rows.empty()) fail(file, 1, 1, "no row of the table has a speed", "nothing was imported");
}

// "pt240": 2.4.0; "pt113": 1.13, as PyTorch 1 numbers its releases. "" for any other word.
std::string version_of(std::string_view word) {
  if (word.size() != 5 || !word.starts_with("pt") || !std::ranges::all_of(word.substr(2), is_digit))
    return "";
  return word[2] == '1' ? fmt::format("1.{}{}", word[3], word[4])
                        : fmt::format("{}.{}.{}", word[2], word[3], word[4]);
}

// What the name says, as far as it is one of timm's.
TableFacts facts_of_name(std::string_view name) {
  TableFacts facts;
  facts.source = fmt::format("huggingface/pytorch-image-models, results/{}", name);
  facts.licence = "Apache-2.0";
  facts.framework = "pytorch";
  if (!name.ends_with(".csv")) return facts;
  name.remove_suffix(4);
  std::vector<std::string_view> words = split(name, '-');
  constexpr std::size_t kHost = 6;
  if (words.size() <= kHost || words[0] != "benchmark" || words[1] != "infer") return facts;
  // torch.compile, which Inductor compiles for by default (benchmark.py, --torchcompile).
  if (words.back() == "dynamo") {
    facts.compiler = "inductor";
    words.pop_back();
  }
  facts.precision = words[2];
  facts.layout = words[3];
  facts.version = version_of(words[4]);
  if (words[5] == "cpu") facts.device = "cpu";
  if (words[5].starts_with("cu") && words[5] != "cuda" && is_digit(words[5].back())) facts.device = "gpu";
  words.erase(words.begin(), words.begin() + kHost);
  facts.host = fmt::format("{}", fmt::join(words, "-"));
  return facts;
}

}  // namespace

ExternalTable timm_table(std::string_view text, const std::string& file,
                         const std::map<std::string, std::string>& said) {
  ExternalTable table;
  table.facts = facts_of_name(last_part(file));
  for (const auto& [name, value] : said) set_fact(table.facts, name, value);
  need_facts(table.facts, file);
  table.text = text;
  read_rows(file, table);
  return table;
}

}  // namespace kiln
