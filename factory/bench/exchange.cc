#include "factory/bench/exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/bench/csv_rows.h"

namespace kiln {
namespace {

enum class FieldKind { text, number, truth, numbers, words, json };

struct CsvField {
  std::string name;  // of the member, with points between
  FieldKind kind = FieldKind::text;
};

constexpr auto kFieldKinds = enum_names<FieldKind>({{FieldKind::number, "number"},
                                                    {FieldKind::truth, "truth"},
                                                    {FieldKind::numbers, "numbers"},
                                                    {FieldKind::words, "words"},
                                                    {FieldKind::json, "json"}});

// In the order of the columns; what has no kind is text.
constexpr std::string_view kCsvFields =
    "workload unit samples=numbers warm=number first=number peak_memory=number image key name "
    "axes.framework axes.version axes.method axes.target axes.compilers=words axes.accelerator "
    "axes.libraries=words axes.runtimes=words stock=truth threads=number affinity cleared=json "
    "conditions.busy=number conditions.load=number conditions.steal=number conditions.governor "
    "conditions.marks=words host.cpu host.vendor host.model host.cores=number host.memory_bytes=number "
    "host.features=words host.accelerators=words host.driver host.kernel host.glibc host.mpi "
    "host.transparent_hugepages taken kiln round=number place output=json session workload_files";

const std::vector<CsvField>& csv_fields() {
  static const std::vector<CsvField> kFields = [] {
    std::vector<CsvField> fields;
    for (std::string_view word : split(kCsvFields, ' ')) {
      const std::size_t sign = std::min(word.find('='), word.size());
      fields.push_back({std::string(word.substr(0, sign))});
      if (sign < word.size()) fields.back().kind = kFieldKinds.find(word.substr(sign + 1)).value();
    }
    return fields;
  }();
  return kFields;
}

Json::json_pointer pointer_of(std::string name) {
  std::ranges::replace(name, '.', '/');
  return Json::json_pointer("/" + name);
}

std::string field_text(const Json& value, FieldKind kind) {
  if (kind == FieldKind::text) return value.get<std::string>();
  if (kind != FieldKind::numbers && kind != FieldKind::words) return value.dump();
  std::string text;
  for (const Json& item : value)
    text += (text.empty() ? "" : ";") + (item.is_string() ? item.get<std::string>() : item.dump());
  return text;
}

Json list_of(const std::string& text, FieldKind kind) {
  Json list = Json::array();
  for (std::string_view item : split(text, ';')) {
    if (kind == FieldKind::words)
      list.push_back(std::string(item));
    else
      list.push_back(Json::parse(item, nullptr, false));
  }
  return list;
}

// What the reader of runs is to judge: what is no number stays text.
Json value_of(const std::string& text, FieldKind kind) {
  if (kind == FieldKind::text) return text;
  if (kind == FieldKind::numbers || kind == FieldKind::words) return list_of(text, kind);
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json(text) : value;
}

const CsvField* find_field(const std::string& name) {
  const auto found = std::ranges::find(csv_fields(), name, &CsvField::name);
  return found == csv_fields().end() ? nullptr : &*found;
}

BenchRun run_of(const CsvRow& row, const std::vector<const CsvField*>& header, const std::string& file,
                std::int64_t now) {
  Json json = Json::object();
  if (row.fields.size() != header.size())
    throw Error(ExitCode::input, {file, row.line, 1, ""},
                fmt::format("expected {} fields, found {}", header.size(), row.fields.size()));
  for (std::size_t i = 0; i < header.size(); ++i)
    if (!row.fields[i].empty()) json[pointer_of(header[i]->name)] = value_of(row.fields[i], header[i]->kind);
  if (!json.contains("host")) json["host"] = Json::object();
  try {
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return bench_run_from_json(JsonDocument::parse(text, file).root(), now);
  } catch (const Error& error) {
    const std::string where = error.where().pointer.empty() ? "" : error.where().pointer + ": ";
    throw Error(ExitCode::input, {file, row.line, 1, ""}, where + error.message(), error.hint());
  }
}

}  // namespace

std::string runs_to_csv(const std::vector<BenchRun>& runs) {
  std::string csv;
  for (const CsvField& field : csv_fields()) csv += (csv.empty() ? "" : ",") + field.name;
  csv += "\r\n";
  for (const BenchRun& run : runs) {
    const Json json = to_json(run);
    std::string row;
    for (const CsvField& field : csv_fields()) {
      const Json::json_pointer pointer = pointer_of(field.name);
      if (&field != &csv_fields().front()) row += ',';
      if (json.contains(pointer)) row += csv_field(field_text(json[pointer], field.kind));
    }
    csv += row + "\r\n";
  }
  return csv;
}

// How to import the results of another project, which its columns show; "" for any other file.
static std::string hint_of_results(const CsvRow& header) {
  if (std::ranges::count(header.fields, "infer_samples_per_sec") > 0)
    return "say --as timm to import a results table of timm";
  if (std::ranges::count(header.fields, "Throughput-FP32") > 0)
    return "say --as openvino to import the results table of OpenVINO";
  return "";
}

std::vector<BenchRun> runs_from_csv(std::string_view text, const std::string& file, std::int64_t now) {
  const std::vector<CsvRow> rows = csv_rows(text, file);
  if (rows.empty()) throw Error(ExitCode::input, {file, 1, 1, ""}, "the file has no header line");
  std::vector<const CsvField*> header;
  for (const std::string& name : rows.front().fields) {
    header.push_back(find_field(name));
    if (header.back() != nullptr) continue;
    std::vector<std::string> names;
    for (const CsvField& field : csv_fields()) names.push_back(field.name);
    const std::string table = hint_of_results(rows.front());
    throw Error(ExitCode::input, {file, 1, 1, ""}, "there is no column '" + name + "'",
                table.empty() ? did_you_mean(name, names) : table);
  }
  std::vector<BenchRun> runs;
  for (std::size_t i = 1; i < rows.size(); ++i) runs.push_back(run_of(rows[i], header, file, now));
  return runs;
}

std::optional<RunFormat> format_of_file(std::string_view name) {
  if (name.ends_with(".csv")) return RunFormat::csv;
  if (name.ends_with(".reframe.json")) return RunFormat::reframe;
  if (name.ends_with(".json")) return RunFormat::json;
  return std::nullopt;
}

std::string write_runs(const std::vector<BenchRun>& runs, RunFormat format) {
  if (format == RunFormat::csv) return runs_to_csv(runs);
  if (format == RunFormat::reframe) return runs_to_reframe(runs);
  return runs_to_json(runs).dump(1) + "\n";
}

std::vector<BenchRun> read_runs(std::string_view text, const std::string& file, RunFormat format,
                                std::int64_t now) {
  if (format == RunFormat::csv) return runs_from_csv(text, file, now);
  if (format == RunFormat::reframe) return runs_from_reframe(text, file, now);
  return read_runs(text, file, now);
}

}  // namespace kiln
