// Legacy images → matrix. For each framework and method: the product of the values that its images have, less
// partial cells that match no image, the most general ones first.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/import/import_parts.h"

namespace kiln {
namespace {

using Ordered = nlohmann::ordered_json;
using Cell = std::vector<std::size_t>;  // for each axis, which of its values

constexpr std::size_t kMaxProduct = 5000;  // beyond it every image is a group of its own
constexpr const char* kAxes[] = {"framework", "version", "method", "library", "compiler", "base", "target"};

class GroupWriter {
 public:
  GroupWriter(std::string name, const std::vector<const ImportCell*>& cells);
  std::size_t size() const;
  Ordered json() const;

 private:
  std::vector<std::vector<std::size_t>> subsets(std::size_t count) const;
  std::vector<Cell> unwanted() const;
  static Cell projection(const Cell& cell, const std::vector<std::size_t>& axes);
  Ordered exclude_of(const Cell& part, const std::vector<std::size_t>& axes) const;

  std::string name_;
  std::vector<std::string> axes_;
  std::vector<std::vector<std::string>> values_;  // by axis, in order of appearance
  std::set<Cell> wanted_;
};

GroupWriter::GroupWriter(std::string name, const std::vector<const ImportCell*>& cells)
    : name_(std::move(name)) {
  for (const char* axis : kAxes) {
    bool used = std::ranges::any_of(cells, [&](const ImportCell* one) { return one->axes().contains(axis); });
    if (used) axes_.emplace_back(axis);
  }
  values_.resize(axes_.size());
  for (const ImportCell* one : cells) {
    AxisValues values = one->axes();
    Cell cell;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      std::string value = values.contains(axes_[i]) ? values[axes_[i]] : "none";
      auto known = std::ranges::find(values_[i], value);
      cell.push_back(static_cast<std::size_t>(known - values_[i].begin()));
      if (known == values_[i].end()) values_[i].push_back(value);
    }
    wanted_.insert(std::move(cell));
  }
}

std::size_t GroupWriter::size() const {
  std::size_t product = 1;
  for (const auto& values : values_) product = std::min(kMaxProduct + 1, product * values.size());
  return product;
}

std::vector<Cell> GroupWriter::unwanted() const {
  std::vector<Cell> cells = {{}};
  for (const auto& values : values_) {
    std::vector<Cell> longer;
    for (const Cell& cell : cells) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        longer.push_back(cell);
        longer.back().push_back(i);
      }
    }
    cells = std::move(longer);
  }
  std::erase_if(cells, [&](const Cell& cell) { return wanted_.contains(cell); });
  return cells;
}

// All sets of `count` axes that have more than one value.
std::vector<std::vector<std::size_t>> GroupWriter::subsets(std::size_t count) const {
  std::vector<std::vector<std::size_t>> found;
  for (unsigned bits = 0; bits < 1u << axes_.size(); ++bits) {
    std::vector<std::size_t> axes;
    bool varies = true;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if ((bits >> i & 1u) == 0) continue;
      axes.push_back(i);
      varies = varies && values_[i].size() > 1;
    }
    if (varies && axes.size() == count) found.push_back(std::move(axes));
  }
  return found;
}

Cell GroupWriter::projection(const Cell& cell, const std::vector<std::size_t>& axes) {
  Cell part;
  for (std::size_t axis : axes) part.push_back(cell[axis]);
  return part;
}

Ordered GroupWriter::exclude_of(const Cell& part, const std::vector<std::size_t>& axes) const {
  Ordered json = Ordered::object();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string& value = values_[axes[i]][part[i]];
    json[axes_[axes[i]]] =
        axes_[axes[i]] == "version" ? "==" + value : value;  // a bare version is its series
  }
  return json;
}

Ordered GroupWriter::json() const {
  Ordered group = {{"name", name_}, {"axes", Ordered::object()}};
  for (std::size_t i = 0; i < axes_.size(); ++i) group["axes"][axes_[i]] = values_[i];
  std::vector<Cell> rest = unwanted();
  Ordered excludes = Ordered::array();
  for (std::size_t count = 1; count <= axes_.size() && !rest.empty(); ++count) {
    for (const auto& axes : subsets(count)) {
      std::set<Cell> kept;
      for (const Cell& cell : wanted_) kept.insert(projection(cell, axes));
      std::set<Cell> parts;
      for (const Cell& cell : rest)
        if (Cell part = projection(cell, axes); !kept.contains(part)) parts.insert(std::move(part));
      for (const Cell& part : parts) excludes.push_back(exclude_of(part, axes));
      std::erase_if(rest, [&](const Cell& cell) { return parts.contains(projection(cell, axes)); });
    }
  }
  if (!excludes.empty()) group["exclude"] = excludes;
  return group;
}

}  // namespace

std::string write_matrix(const std::vector<ImportCell>& cells, const std::string& name) {
  std::map<std::string, std::vector<const ImportCell*>> groups;
  for (const ImportCell& one : cells) groups[one.cell.framework + "-" + one.cell.method].push_back(&one);
  Ordered matrix = {{"name", name}, {"groups", Ordered::array()}};
  for (const auto& [group, own] : groups) {
    GroupWriter writer(group, own);
    if (writer.size() <= kMaxProduct) {
      matrix["groups"].push_back(writer.json());
      continue;
    }
    for (std::size_t i = 0; i < own.size(); ++i)
      matrix["groups"].push_back(GroupWriter(fmt::format("{}-{}", group, i + 1), {own[i]}).json());
  }
  return matrix.dump(2) + "\n";
}

}  // namespace kiln
