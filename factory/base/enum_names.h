// The values of an enumeration and what documents and options call them: one table for both directions.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln {

// Made by enum_names(). Tables have a few rows, so both directions go through them one by one.
template <typename Enum, std::size_t count>
struct EnumNames {
  std::array<std::pair<Enum, std::string_view>, count> rows;

  // "" for a value that has no name.
  constexpr std::string_view of(Enum value) const {
    for (const auto& [known, name] : rows)
      if (known == value) return name;
    return "";
  }

  constexpr std::optional<Enum> find(std::string_view name) const {
    for (const auto& [value, known] : rows)
      if (known == name) return value;
    return std::nullopt;
  }

  // Every name in the table's order, for messages.
  std::vector<std::string> all() const {
    std::vector<std::string> names;
    for (const auto& row : rows) names.emplace_back(row.second);
    return names;
  }
};

// enum_names<Colour>({{Colour::red, "red"}, {Colour::blue, "blue"}}). A table that contains a value or a name
// twice does not compile.
template <typename Enum, std::size_t count>
consteval EnumNames<Enum, count> enum_names(const std::pair<Enum, std::string_view> (&rows)[count]) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (rows[i].first == rows[j].first || rows[i].second == rows[j].second)
        throw "a value or a name stands twice in the table";  // NOLINT(hicpp-exception-baseclass)
  return {std::to_array(rows)};
}

}  // namespace kiln
