#include "factory/bench/exchange.h"

namespace kiln {

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
