// Which recipe says which variable.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/import/import_parts.h"

namespace kiln {
namespace {

Environment environment_of(const LegacyImage& image) {
  Environment out;
  for (const auto& [name, said] : image.environment) out[name] = said.value;
  return out;
}

// What all of them say.
Environment common(const std::vector<Environment>& all) {
  Environment out = all.empty() ? Environment() : all[0];
  for (const Environment& other : all)
    std::erase_if(out, [&](const auto& pair) {
      auto found = other.find(pair.first);
      return found == other.end() || found->second != pair.second;
    });
  return out;
}

// Moves what all images of one key say from `left` to the result.
template <typename Key, typename KeyOf>
std::map<Key, Environment> share(const std::vector<ImportCell>& cells, std::vector<Environment>& left,
                                 KeyOf key_of) {
  std::map<Key, std::vector<Environment>> by_key;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (auto key = key_of(cells[i])) by_key[*key].push_back(left[i]);
  std::map<Key, Environment> shared;
  for (const auto& [key, all] : by_key) shared[key] = common(all);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (auto key = key_of(cells[i]))
      for (const auto& [name, value] : shared[*key]) left[i].erase(name);
  }
  return shared;
}

// "env-tf-xla-flags", after its first variable.
std::string library_name(const Environment& environment, const std::map<std::string, Environment>& taken) {
  std::string name = "env-" + lower_case(environment.begin()->first);
  std::ranges::replace(name, '_', '-');
  std::string unique = name;
  for (int number = 2; taken.contains(unique); ++number) unique = fmt::format("{}-{}", name, number);
  return unique;
}

}  // namespace

ImportEnvironments share_environments(std::vector<ImportCell>& cells) {
  using Pair = std::pair<std::string, std::string>;
  std::vector<Environment> left;
  for (const ImportCell& one : cells) left.push_back(environment_of(one.legacy));
  ImportEnvironments out;
  out.of_framework = share<Pair>(cells, left, [](const ImportCell& one) {
    return std::optional(Pair(one.cell.framework, one.cell.method));
  });
  out.of_base = share<std::string>(cells, left,
                                   [](const ImportCell& one) { return std::optional(one.base.component); });
  out.of_compiler = share<Pair>(cells, left, [](const ImportCell& one) {
    return one.cell.compiler.empty() ? std::nullopt : std::optional(Pair(one.cell.compiler, one.cell.method));
  });
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (left[i].empty()) continue;
    auto known =
        std::ranges::find_if(out.of_library, [&](const auto& pair) { return pair.second == left[i]; });
    cells[i].library = known == out.of_library.end() ? library_name(left[i], out.of_library) : known->first;
    out.of_library[cells[i].library] = left[i];
  }
  return out;
}

}  // namespace kiln
