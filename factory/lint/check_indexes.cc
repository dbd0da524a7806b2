// KL026: two package indexes for one pip, either of which may answer for any name.
#include <algorithm>

#include "factory/lint/check_file.h"
#include "factory/lint/whole_file.h"

namespace kiln::lint {
namespace {

constexpr std::string_view kText = "pip takes each package from whichever index has the higher version";

const ShellToken* extra_index_of(const Call& call) {
  for (const ShellToken* word : call.arguments)
    if (word->text == "--extra-index-url" || word->text.starts_with("--extra-index-url=")) return word;
  return nullptr;
}

// A local version (1.13.0+cu117) is on no public index: it names the index that it is from.
bool name_their_index(const PipCall& pip) {
  return pip.words.files.empty() && !pip.packages.empty() &&
         std::all_of(pip.packages.begin(), pip.packages.end(), [](const PipPackage& one) {
           return one.exact && one.version.find('+') != std::string::npos;
         });
}

// uv asks its indexes in order, and stays with the first that knows the name.
bool asks_in_order(const PipCall& pip) {
  return pip.call.program == "uv" && !pip.call.has_prefix("--index-strategy=unsafe") &&
         !pip.call.has("unsafe-best-match") && !pip.call.has("unsafe-first-match");
}

void check_call(const PlacedCommand& placed, const PipCall& pip, Report& report) {
  const ShellToken* option = extra_index_of(pip.call);
  if (option == nullptr || asks_in_order(pip) || name_their_index(pip) || pip.words.hashes ||
      pip.words.no_index || wrapped_with(*placed.unit, "--require-hashes"))
    return;
  add(report, "KL026", *placed.unit, *placed.command, option->span, std::string(kText));
}

// `pip config set global.extra-index-url URL`.
void check_configuration(const PlacedCommand& placed, Report& report) {
  const Call call = call_of(*placed.command);
  if (!is_pip(call.program) || !call.has("config") || !call.has("set")) return;
  for (const ShellToken* word : call.arguments)
    if (word->text.ends_with("extra-index-url"))
      add(report, "KL026", *placed.unit, *placed.command, word->span, std::string(kText));
}

}  // namespace

void check_indexes(const WholeFile& whole, Report& report) {
  for (const auto& [placed, pip] : whole.pip_calls()) check_call(placed, pip, report);
  for (const PlacedCommand& placed : whole.commands()) check_configuration(placed, report);
  for (const Setting& setting : whole.settings)
    if (setting.name == "PIP_EXTRA_INDEX_URL" && !setting.value.empty())
      report.add("KL026", *whole.file, setting.span, std::string(kText));
}

void check_indexes_of(const SourceFile& file, const RequirementsFile& all, Report& report) {
  const bool hashed =
      std::all_of(all.packages.begin(), all.packages.end(), [](const PipPackage& one) { return one.hashed; });
  if (hashed && !all.packages.empty()) return;
  for (int line = 1; line <= static_cast<int>(file.lines()); ++line) {
    const std::string_view text = file.line_text(line);
    if (text.starts_with("--extra-index-url"))
      report.add("KL026", file, {file.start_of(line), file.start_of(line) + text.size()}, std::string(kText));
  }
}

}  // namespace kiln::lint
