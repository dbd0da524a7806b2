#include "factory/bench/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "factory/base/text.h"

namespace kiln {
namespace {

enum class FieldKind { text, number, truth, numbers, words, json };

struct CsvField {
  const char* name;  // of the member, with points between
  FieldKind kind;
};

constexpr CsvField kCsvFields[] = {{"workload", FieldKind::text},
                                   {"unit", FieldKind::text},
                                   {"samples", FieldKind::numbers},
                                   {"warm", FieldKind::number},
                                   {"first", FieldKind::number},
                                   {"peak_memory", FieldKind::number},
                                   {"image", FieldKind::text},
                                   {"key", FieldKind::text},
                                   {"name", FieldKind::text},
                                   {"axes.framework", FieldKind::text},
                                   {"axes.version", FieldKind::text},
                                   {"axes.method", FieldKind::text},
                                   {"axes.target", FieldKind::text},
                                   {"axes.compilers", FieldKind::words},
                                   {"axes.accelerator", FieldKind::text},
                                   {"axes.libraries", FieldKind::words},
                                   {"axes.runtimes", FieldKind::words},
                                   {"stock", FieldKind::truth},
                                   {"threads", FieldKind::number},
                                   {"affinity", FieldKind::text},
                                   {"cleared", FieldKind::json},
                                   {"conditions.busy", FieldKind::number},
                                   {"conditions.load", FieldKind::number},
                                   {"conditions.steal", FieldKind::number},
                                   {"conditions.governor", FieldKind::text},
                                   {"conditions.marks", FieldKind::words},
                                   {"host.cpu", FieldKind::text},
                                   {"host.vendor", FieldKind::text},
                                   {"host.model", FieldKind::text},
                                   {"host.cores", FieldKind::number},
                                   {"host.memory_bytes", FieldKind::number},
                                   {"host.features", FieldKind::words},
                                   {"host.accelerators", FieldKind::words},
                                   {"host.driver", FieldKind::text},
                                   {"host.kernel", FieldKind::text},
                                   {"host.glibc", FieldKind::text},
                                   {"host.mpi", FieldKind::text},
                                   {"host.transparent_hugepages", FieldKind::text},
                                   {"taken", FieldKind::text},
                                   {"kiln", FieldKind::text},
                                   {"round", FieldKind::number},
                                   {"place", FieldKind::text},
                                   {"output", FieldKind::json},
                                   {"session", FieldKind::text},
                                   {"workload_files", FieldKind::text}};

Json::json_pointer pointer_of(std::string name) {
  std::ranges::replace(name, '.', '/');
  return Json::json_pointer("/" + name);
}

std::string quoted_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string field_text(const Json& value, FieldKind kind) {
  if (kind == FieldKind::text) return value.get<std::string>();
  if (kind != FieldKind::numbers && kind != FieldKind::words) return value.dump();
  std::string text;
  for (const Json& item : value)
    text += (text.empty() ? "" : ";") + (item.is_string() ? item.get<std::string>() : item.dump());
  return text;
}

// A table as RFC 4180 has it: rows of fields, each with the line that it begins in.
struct CsvRow {
  int line = 1;
  std::vector<std::string> fields;
};

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      CsvRow row{line_, {}};
      do row.fields.push_back(field());
      while (next_is(','));
      if (!next_is('\r') && at_ < text_.size() && text_[at_] != '\n')
        fail("text follows the closing quote of a field");
      if (next_is('\n')) ++line_;
      if (row.fields.size() > 1 || !row.fields.front().empty()) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  bool next_is(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string field() {
    if (!next_is('"')) {
      const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      std::string plain(text_.substr(at_, end - at_));
      at_ = end;
      return plain;
    }
    std::string quoted;
    for (;; ++at_) {
      if (at_ >= text_.size()) fail("the quote of a field is not closed");
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '"') {
        ++at_;
        if (at_ >= text_.size() || text_[at_] != '"') return quoted;
      }
      quoted += text_[at_];
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ExitCode::input, {file_, line_, 1, ""}, why);
  }

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  int line_ = 1;
};

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
  const auto* found =
      std::ranges::find_if(kCsvFields, [&](const CsvField& field) { return field.name == name; });
  return found == std::end(kCsvFields) ? nullptr : found;
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
  for (const CsvField& field : kCsvFields) csv += (csv.empty() ? "" : ",") + std::string(field.name);
  csv += "\r\n";
  for (const BenchRun& run : runs) {
    const Json json = to_json(run);
    std::string row;
    for (const CsvField& field : kCsvFields) {
      const Json::json_pointer pointer = pointer_of(field.name);
      if (&field != std::begin(kCsvFields)) row += ',';
      if (json.contains(pointer)) row += quoted_field(field_text(json[pointer], field.kind));
    }
    csv += row + "\r\n";
  }
  return csv;
}

std::vector<BenchRun> runs_from_csv(std::string_view text, const std::string& file, std::int64_t now) {
  const std::vector<CsvRow> rows = CsvReader(text, file).rows();
  if (rows.empty()) throw Error(ExitCode::input, {file, 1, 1, ""}, "the file has no header line");
  std::vector<const CsvField*> header;
  for (const std::string& name : rows.front().fields) {
    header.push_back(find_field(name));
    if (header.back() != nullptr) continue;
    std::vector<std::string> names;
    for (const CsvField& field : kCsvFields) names.emplace_back(field.name);
    throw Error(ExitCode::input, {file, 1, 1, ""}, "there is no column '" + name + "'",
                did_you_mean(name, names));
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
  switch (format) {
    case RunFormat::csv:
      return runs_to_csv(runs);
    case RunFormat::reframe:
      return runs_to_reframe(runs);
    case RunFormat::json:
      break;
  }
  return runs_to_json(runs).dump(1) + "\n";
}

std::vector<BenchRun> read_runs(std::string_view text, const std::string& file, RunFormat format,
                                std::int64_t now) {
  switch (format) {
    case RunFormat::csv:
      return runs_from_csv(text, file, now);
    case RunFormat::reframe:
      return runs_from_reframe(text, file, now);
    case RunFormat::json:
      break;
  }
  return read_runs(text, file, now);
}

}  // namespace kiln
