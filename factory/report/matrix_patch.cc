#include "factory/report/matrix_patch.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace kiln {
namespace {

// "/groups/0" of "/groups/0/axes/framework"; "" where the file has one group without a name.
std::string group_pointer(const std::string& pointer) {
  for (const char* part : {"/axes", "/include"})
    if (const std::size_t at = pointer.find(part); at != std::string::npos) return pointer.substr(0, at);
  return "";
}

// Where the first group of the file is.
std::string first_group(const Json& matrix) { return matrix.contains("groups") ? "/groups/0" : ""; }

// Adds to a list, and makes the list if it is missing.
class ListPatch {
 public:
  explicit ListPatch(const Json& matrix) : matrix_(matrix) {}

  void add(const std::string& list, Json entry, const std::string& reason) {
    if (made_.insert(list).second && !matrix_.contains(Json::json_pointer(list)))
      patch_.push_back({{"op", "add"}, {"path", list}, {"value", Json::array()}});
    patch_.push_back({{"op", "add"}, {"path", list + "/-"}, {"value", std::move(entry)}, {"reason", reason}});
  }
  void remove(const std::string& entry, const std::string& reason) {
    patch_.push_back({{"op", "remove"}, {"path", entry}, {"reason", reason}});
  }
  Json result() { return std::move(patch_); }

 private:
  const Json& matrix_;
  std::set<std::string> made_;
  Json patch_ = Json::array();
};

Json read_whole_matrix(std::string_view text, const std::string& file) {
  const JsonDocument document = JsonDocument::parse(text, file);
  if (!document.root().is_object()) document.root().fail("expected a matrix");
  return document.value();
}

bool has_entry(const Json& matrix, const std::string& list, const Json& entry) {
  const Json::json_pointer place(list);
  if (!matrix.contains(place)) return false;
  const Json& entries = matrix.at(place);
  return std::ranges::find(entries, entry) != entries.end();
}

// "/include/3" of "/include/3/framework"; "" of a cell of the axes.
std::string include_entry(const std::string& pointer) {
  constexpr std::string_view kInclude = "/include/";
  const std::size_t at = pointer.find(kInclude);
  if (at == std::string::npos) return "";
  return pointer.substr(0, pointer.find('/', at + kInclude.size()));
}

// The later one of a list first, so that the other one keeps its number.
bool is_removed_first(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

}  // namespace

Json include_patch(std::string_view text, const std::string& file, const std::vector<PatchedCell>& cells) {
  const Json matrix = read_whole_matrix(text, file);
  const std::string list = first_group(matrix) + "/include";
  ListPatch patch(matrix);
  for (const PatchedCell& cell : cells)
    if (const Json entry = cell.request.axes; !has_entry(matrix, list, entry))
      patch.add(list, entry, cell.reason);
  return patch.result();
}

Json exclude_patch(std::string_view text, const std::string& file, const std::vector<PatchedCell>& cells) {
  const Json matrix = read_whole_matrix(text, file);
  ListPatch patch(matrix);
  std::map<std::string, std::string, decltype(&is_removed_first)> removed(&is_removed_first);
  for (const PatchedCell& cell : cells) {
    if (cell.request.where.file != file) continue;
    if (const std::string entry = include_entry(cell.request.where.pointer); !entry.empty())
      removed.emplace(entry, cell.reason);
    else
      patch.add(group_pointer(cell.request.where.pointer) + "/exclude", cell.request.axes, cell.reason);
  }
  for (const auto& [entry, reason] : removed) patch.remove(entry, reason);
  return patch.result();
}

}  // namespace kiln
