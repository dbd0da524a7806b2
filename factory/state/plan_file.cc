#include "factory/state/plan_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/json_text.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostPlan = std::uint64_t{4} << 30;  // 100,000 cells are some 400 MB
constexpr std::string_view kBeforeId =
    "],\"id\":\"";  // after the flags; in no string, where quotes are escaped

// The text of the string that begins at `begin`, as JSON writes it.
std::string_view string_at(std::string_view line, std::size_t begin) {
  std::size_t end = begin;
  while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
  return line.substr(begin, std::min(end, line.size()) - begin);
}

std::string quoted(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

// The keys in "stages" and "tests" of a cell.
std::vector<std::string> keys_in(std::string_view cell) {
  std::set<std::string> keys;
  const Json json = Json::parse(cell, nullptr, false);
  auto add = [&](const Json& list) {
    for (const Json& key : list)
      if (key.is_string()) keys.insert(key.get<std::string>());
  };
  if (!json.is_object()) return {};
  if (auto stages = json.find("stages"); stages != json.end())
    for (const Json& stage : *stages)
      if (stage.is_object() && stage.contains("steps")) add(stage["steps"]);
  if (auto tests = json.find("tests"); tests != json.end()) add(*tests);
  return {keys.begin(), keys.end()};
}

}  // namespace

bool is_whole_plan(std::string_view text) { return text.starts_with('{') && text.ends_with("}\n"); }

PlanFile::PlanFile(std::string bytes, fs::path file)
    : file_(std::move(file)), bytes_(std::make_unique<const std::string>(std::move(bytes))) {
  std::string_view rest = *bytes_;
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with(',')) line.remove_suffix(1);
    std::size_t id = line.starts_with("{\"axes\":") ? line.find(kBeforeId) : std::string_view::npos;
    if (id != std::string_view::npos)
      cells_.emplace(string_at(line, id + kBeforeId.size()), line);
    else if (line.starts_with('"'))
      steps_.emplace(string_at(line, 1), line);
  }
}

std::optional<PlanFile> PlanFile::open(const FileSystem& files, const fs::path& file) {
  auto bytes = files.read(file, kMostPlan);
  if (!bytes) return std::nullopt;
  return PlanFile(std::move(*bytes), file);
}

PlanDocument PlanFile::read(std::string_view cell, const std::vector<std::string>& keys) const {
  std::string text = "{\"cells\":[\n";
  text += cell;
  text += "\n],\"excluded\":[],\"name\":\"\",\"schema\":1,\"steps\":{";
  const char* between = "\n";
  for (const std::string& key : keys) {
    auto found = steps_.find(key);
    if (found == steps_.end()) continue;  // the reader says which
    text += between;
    text += found->second;
    between = ",\n";
  }
  text += "\n},\"steps_before_sharing\":0,\"warnings\":[]}";
  JsonLimits limits{64u << 20, 64, 1u << 20, 1'000'000};
  try {
    return plan_from_json(JsonDocument::parse(text, file_.string(), limits));
  } catch (const Error& error) {  // lines and columns are of the part
    throw Error(ExitCode::store, {file_.string(), 0, 0, error.where().pointer},
                fmt::format("the plan is damaged: {}", error.message()),
                "remove the file; `kiln build` writes it again");
  }
}

void PlanFile::prove() const {
  auto damaged = [&](const std::string& what) {
    throw Error(ExitCode::store, {file_.string(), 0, 0, ""}, "the plan is damaged: " + what,
                "remove the file; `kiln build` writes it again");
  };
  if (!is_whole_plan(*bytes_)) damaged("it is cut off");
  if (!Json::accept(*bytes_)) damaged("it is no JSON");
  for (const auto& [id, line] : cells_)
    for (const std::string& key : keys_in(line))
      if (!steps_.contains(key)) damaged(fmt::format("it lacks the step {} of the cell {}", key, id));
}

std::optional<Step> PlanFile::step(std::string_view key) const {
  if (!steps_.contains(key)) return std::nullopt;
  return std::move(read("", {std::string(key)}).steps.begin()->second);
}

std::optional<ImageSpec> PlanFile::image(std::string_view id) const {
  std::string text = quoted(id);
  auto found = cells_.find(std::string_view(text).substr(1, text.size() - 2));
  if (found == cells_.end()) return std::nullopt;
  PlanDocument cell = read(found->second, keys_in(found->second));
  if (cell.images.size() != 1) return std::nullopt;
  return std::move(cell.images.front());
}

}  // namespace kiln
