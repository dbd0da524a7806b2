#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "factory/base/text.h"
#include "factory/bench/published_tables.h"
#include "factory/bench/results_csv.h"

namespace kiln {
namespace {

// Rate and time are rounded, and on a CPU a mean of rates and a rate of means: 6 % apart at most in 2026.
constexpr double kApart = 0.15;

// The columns by their places in kTimmColumns.
enum TimmPlace : std::size_t { kModel, kSize, kBatch, kRate, kTime, kParameters, kMacs, kActivations };
constexpr ResultsColumn kTimmColumns[] = {{"model", 0, true},
                                          {"img_size", 65'536, true},
                                          {"batch_size", 1e6, true},
                                          {"samples_per_sec", 1e9, true},
                                          {"step_time", 1e9, true},
                                          {"param_count", 1e9, true},
                                          {"gmacs", 1e9},
                                          {"macts", 1e9}};
constexpr ResultsLayout kTimmLayout{"timm", kTimmColumns, "infer_", ResultsText::ascii};

void refuse_training(const CsvRow& header, const std::string& file) {
  for (std::size_t i = 0; i < header.fields.size(); ++i)
    if (const std::string& name = header.fields[i]; name.starts_with("train_"))
      refuse_results(file, header.line, header.columns[i],
                     fmt::format("'{}' is a column of training results", name),
                     "import a table of inference: benchmark-infer-*.csv");
}

// Nothing but the network: the project's own run of it failed.
bool failed(const ResultsRow& row) { return row.text(kRate).empty() && row.text(kTime).empty(); }

double whole(const ResultsRow& row, TimmPlace place) {
  const double value = row.number(place);
  if (value != std::floor(value))
    row.complain(place, fmt::format("{}: expected a whole number, found '{}'", kTimmColumns[place].name,
                                    row.text(place)));
  return value;
}

ExternalRow timm_row(const ResultsRow& row) {
  ExternalRow read;
  read.network = row.network(kModel, row.text(kModel));
  read.input_size = whole(row, kSize);
  read.batch = whole(row, kBatch);
  read.seconds = row.number(kTime) / 1000;
  read.parameters = row.number(kParameters) * 1e6;
  if (row.text(kMacs).empty() != row.text(kActivations).empty())
    row.complain(row.text(kMacs).empty() ? kMacs : kActivations,
                 "gmacs and macts are either both known or neither");
  if (!row.text(kMacs).empty()) {
    read.operations = row.number(kMacs) * 1e9;
    read.activations = row.number(kActivations) * 1e6;
  }
  const double by_rate = read.batch / row.number(kRate);
  if (std::abs(std::log(by_rate / read.seconds)) > kApart)
    row.complain(kTime, fmt::format("a step of {:g} samples at {} a second takes {:.4g} ms, not {}",
                                    read.batch, row.text(kRate), 1000 * by_rate, row.text(kTime)));
  return read;
}

// Two speeds of one network would count twice.
class SeenRows {
 public:
  void add(const ExternalRow& row, const ResultsRow& where) {
    const auto [seen, is_new] = lines_.emplace(std::pair(row.network, row.input_size), where.line());
    if (!is_new)
      where.complain(kModel,
                     fmt::format("a second row of {} with inputs of {:g}; the first is line {}", row.network,
                                 row.input_size, seen->second),
                     "keep one of them");
  }

 private:
  std::map<std::pair<std::string, double>, int> lines_;
};

void read_rows(const std::string& file, ExternalTable& table) {
  const std::vector<CsvRow> rows = results_rows(table.text, file, kTimmLayout);
  refuse_training(rows.front(), file);
  const ResultsPlaces places = results_places(rows.front(), file, kTimmLayout);
  SeenRows seen;
  for (const CsvRow& row : std::span(rows).subspan(1)) {
    const ResultsRow one(row, places, file, kTimmLayout);
    if (failed(one)) {
      ++table.failed;
      continue;
    }
    table.rows.push_back(timm_row(one));
    seen.add(table.rows.back(), one);
  }
  if (table.rows.empty())
    refuse_results(file, 1, 1, "no row of the table has a speed", "nothing was imported");
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
  need_facts(table.facts, file, {"compiler"});
  table.text = text;
  read_rows(file, table);
  return table;
}

}  // namespace kiln
