#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/bench/published_tables.h"
#include "factory/bench/results_csv.h"

namespace kiln {
namespace {

// The columns by their places in kOpenvinoColumns. The speeds are read; of the others only those that name a
// row.
enum OpenvinoPlace : std::size_t { kNetwork, kRelease, kPlatform, kInt8, kFp16, kFp32 };
constexpr ResultsColumn kOpenvinoColumns[] = {{"Network model", 0, true},
                                              {"Release", 0, true},
                                              {"Platform name", 0, true},
                                              {"Throughput-INT8", 1e9, true},
                                              {"Throughput-FP16", 1e9, true},
                                              {"Throughput-FP32", 1e9, true},
                                              {"IE-Type"},
                                              {"Value"},
                                              {"Efficiency"},
                                              {"Price"},
                                              {"TDP"},
                                              {"Sockets"},
                                              {"Price/socket"},
                                              {"TDP/socket"},
                                              {"Latency"}};
constexpr ResultsLayout kOpenvinoLayout{"OpenVINO", kOpenvinoColumns, "", ResultsText::utf8};

struct OpenvinoPrecision {
  std::string_view name;
  OpenvinoPlace column;
};
constexpr std::array<OpenvinoPrecision, 3> kOpenvinoPrecisions = {
    {{"int8", kInt8}, {"fp16", kFp16}, {"fp32", kFp32}}};

std::string line_of(const CsvRow& row) {
  std::string line = csv_field(row.fields.front());
  for (const std::string& field : std::span(row.fields).subspan(1)) line += "," + csv_field(field);
  return line + "\n";
}

// "core-i9-13900k" of "Intel® Core™  i9-13900K CPU-only"; "" for a platform that is no CPU alone.
std::string host_of(const ResultsRow& row) {
  constexpr std::string_view kAlone = "CPU-only", kSigns[] = {"\u00AE", "\u2122"};
  std::string name(trimmed(row.text(kPlatform)));
  if (name.empty()) row.complain(kPlatform, "the row has no platform");
  if (!name.ends_with(kAlone)) return "";
  name.resize(name.size() - kAlone.size());
  for (const std::string_view sign : kSigns)
    for (std::size_t at = name.find(sign); at != name.npos; at = name.find(sign))
      name.replace(at, sign.size(), " ");
  std::string host;
  for (const std::string_view word : split(name, ' '))
    if (!word.empty() && word != "Intel") host += (host.empty() ? "" : "-") + lower_case(word);
  const bool plain = std::ranges::all_of(
      host, [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == '+'; });
  if (host.empty() || !plain)
    row.complain(kPlatform, fmt::format("'{}' is not the name of a CPU", trimmed(row.text(kPlatform))),
                 "a name has letters, digits, '.', '_', '-' and '+'");
  return host;
}

// "2022.3" of "OV-2022.3-8991", whose last number is that of the build.
std::string version_of(const ResultsRow& row) {
  const std::string& text = row.text(kRelease);
  const std::vector<std::string_view> words = split(text, '-');
  const bool plain = words.size() >= 2 && words.size() <= 3 && words[0] == "OV" && !words[1].empty() &&
                     std::ranges::all_of(words[1], [](char c) { return is_digit(c) || c == '.'; });
  if (!plain)
    row.complain(kRelease, fmt::format("'{}' is not a release of OpenVINO", text),
                 "a release is like OV-2022.3-8991");
  return std::string(words[1]);
}

// The rows of one CPU with one release.
struct OpenvinoPlatform {
  std::string text;  // its blocks
  std::array<std::vector<ExternalRow>, kOpenvinoPrecisions.size()> rows;
  std::array<std::size_t, kOpenvinoPrecisions.size()> failed{};
  std::map<std::string, int> lines;  // of each network
};

class OpenvinoReader {
 public:
  OpenvinoReader(std::string_view text, const std::string& file)
      : file_(file),
        rows_(results_rows(text, file, kOpenvinoLayout)),
        places_(results_places(rows_.front(), file, kOpenvinoLayout)) {}

  void read() {
    for (const CsvRow& row : std::span(rows_).subspan(1)) {
      const ResultsRow one(row, places_, file_, kOpenvinoLayout);
      if (!is_border(row, one)) add(row, one);
    }
    if (block_ != nullptr)
      refuse_results(file_, block_->line, 1, "the block has no end_rec", "is the file whole?");
    if (platforms_.empty())
      refuse_results(file_, 1, 1, "the table has no row of a CPU alone", "nothing was imported");
  }

  std::vector<ExternalTable> tables(const TableFacts& facts) const {
    std::vector<ExternalTable> all;
    for (const auto& [name, platform] : platforms_)
      for (std::size_t i = 0; i < kOpenvinoPrecisions.size(); ++i) {
        if (platform.rows[i].empty()) continue;
        ExternalTable table{facts, line_of(rows_.front()) + platform.text, platform.rows[i],
                            platform.failed[i], TableProject::openvino};
        std::tie(table.facts.host, table.facts.version) = name;
        table.facts.precision = kOpenvinoPrecisions[i].name;
        all.push_back(std::move(table));
      }
    if (all.empty()) refuse_results(file_, 1, 1, "no row of the table has a speed", "nothing was imported");
    return all;
  }

  std::size_t left_out() const { return left_out_; }

 private:
  // Whether the row begins or ends a block of one network.
  bool is_border(const CsvRow& row, const ResultsRow& one) {
    const std::string_view word = trimmed(one.text(kNetwork));
    if (word == "begin_rec") {
      if (block_ != nullptr)
        one.complain(kNetwork, fmt::format("the block of line {} has no end_rec", block_->line));
      block_ = &row;
      network_.clear();
      return true;
    }
    if (block_ == nullptr)
      one.complain(kNetwork, fmt::format("'{}' is not between begin_rec and end_rec", word));
    if (word != "end_rec") return false;
    block_ = nullptr;
    return true;
  }

  void add(const CsvRow& row, const ResultsRow& one) {
    const std::string network = one.network(kNetwork, trimmed(one.text(kNetwork)));
    if (network_.empty()) network_ = network;
    if (network != network_)
      one.complain(kNetwork, fmt::format("a block of {} has a row of {}", network_, network),
                   "a block has one network");
    const std::string host = host_of(one);
    if (host.empty()) {
      ++left_out_;
      return;
    }
    OpenvinoPlatform& platform = platforms_[{host, version_of(one)}];
    const auto [seen, is_new] = platform.lines.emplace(network, row.line);
    if (!is_new)
      one.complain(kPlatform,
                   fmt::format("a second row of {} on {}; the first is line {}", network, host, seen->second),
                   "keep one of them");
    platform.text += line_of(*block_) + line_of(row) + end_line();
    for (std::size_t i = 0; i < kOpenvinoPrecisions.size(); ++i) add_speed(one, network, i, platform);
  }

  static void add_speed(const ResultsRow& row, const std::string& network, std::size_t precision,
                        OpenvinoPlatform& platform) {
    const OpenvinoPlace column = kOpenvinoPrecisions[precision].column;
    if (row.text(column).empty()) {
      ++platform.failed[precision];
      return;
    }
    ExternalRow read;
    read.network = network;
    read.batch = 1;
    read.seconds = 1 / row.number(column);
    platform.rows[precision].push_back(std::move(read));
  }

  std::string end_line() const {
    const std::size_t before = places_.of[kNetwork];
    return std::string(before, ',') + "end_rec" + std::string(places_.fields - 1 - before, ',') + "\n";
  }

  const std::string& file_;
  std::vector<CsvRow> rows_;
  ResultsPlaces places_;
  const CsvRow* block_ = nullptr;                                              // its begin_rec
  std::string network_;                                                        // of the block
  std::map<std::pair<std::string, std::string>, OpenvinoPlatform> platforms_;  // by host and version
  std::size_t left_out_ = 0;
};

TableFacts facts_of(const std::string& file, const std::map<std::string, std::string>& said) {
  TableFacts facts;
  facts.source = fmt::format("openvinotoolkit/openvino, docs/_static/benchmarks_files/{}", last_part(file));
  facts.licence = "Apache-2.0";
  facts.device = "cpu";
  facts.framework = kOpenvino;
  for (const auto& [name, value] : said) {
    set_fact(facts, name, value);
    if (name != "source" && name != "licence")
      throw Error(ExitCode::usage, fmt::format("the {} of OpenVINO's results is in the table", name),
                  "--set replaces source and licence only");
  }
  return facts;
}

}  // namespace

OpenvinoTables openvino_tables(std::string_view text, const std::string& file,
                               const std::map<std::string, std::string>& said) {
  const TableFacts facts = facts_of(file, said);
  OpenvinoReader reader(text, file);
  reader.read();
  OpenvinoTables found{reader.tables(facts), reader.left_out()};
  for (const ExternalTable& table : found.tables) need_facts(table.facts, file, {"compiler", "layout"});
  return found;
}

}  // namespace kiln
