#include "factory/recipe/recipe_needs.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/reading.h"
#include "factory/recipe/recipe_parts.h"

namespace kiln {
namespace {

std::string read_target_glob(const JsonNode& node) {
  std::string glob = read_text(node);
  if (glob.find_first_of(" <>=") != std::string::npos)
    node.fail(fmt::format("expected a target or a glob over targets, found '{}'", glob),
              "for example *nvidia* or zen*");
  return glob;
}

Need read_plain_need(const JsonNode& node, const std::vector<ComponentVersion>& own) {
  node.allow_only(keys_of("recipe/need"));
  Need need;
  need.kind = *kind_from(read_word_of(node.at("kind"), kind_names(), "a kind"));
  const JsonNode name = node.at("name");
  need.name = name.name();
  need.where = name.where();
  if (auto range = node.find("version")) need.range = read_range(*range);
  if (auto when = node.find("when")) need.when = read_when(*when, own);
  return need;
}

Need read_any_need(const JsonNode& node, const std::vector<ComponentVersion>& own) {
  node.allow_only(keys_of("recipe/any_need"));
  Need need;
  need.where = node.where();
  const JsonNode list = node.at("any");
  for (const JsonNode& item : read_at_least_one(list, "need")) need.any.push_back(read_plain_need(item, own));
  if (need.any.size() == 1) list.fail("one alternative is no choice", "write it as a separate need");
  if (auto when = node.find("when")) need.when = read_when(*when, own);
  return need;
}

// Equal in what they ask for, and where; different versions of one thing for different cases are fine.
bool same_need(const Need& a, const Need& b) {
  return a.any.empty() && b.any.empty() && a.kind == b.kind && a.name == b.name && a.when == b.when;
}

// Those of `keys`, at least one of them.
When read_conditions(const JsonNode& node, const std::vector<std::string>& keys,
                     const std::vector<ComponentVersion>& own) {
  node.allow_only(keys);
  When when;
  if (auto version = node.find("version")) when.version = read_own_range(*version, own);
  if (auto target = node.find("target")) when.target = read_target_glob(*target);
  if (auto with = node.find("with")) when.with = read_companion(*with);
  if (when.always()) node.fail("expected a condition, found one that always holds", "leave 'when' out");
  return when;
}

}  // namespace

VersionRange read_own_range(const JsonNode& node, const std::vector<ComponentVersion>& own) {
  VersionRange range = read_range(node);
  if (std::ranges::none_of(own, [&](const auto& one) { return range.contains(one.version); }))
    node.fail(fmt::format("no version of this recipe is in '{}'", range.text()),
              fmt::format("the newest is {}", own.front().version.text()));
  return range;
}

When read_when(const JsonNode& node, const std::vector<ComponentVersion>& own) {
  if (node.is_object())
    if (auto with = node.find("with"))
      with->fail("only a file may ask what else is in the image", "that follows from what is needed");
  return read_conditions(node, keys_of("recipe/when"), own);
}

When read_file_when(const JsonNode& node, const std::vector<ComponentVersion>& own) {
  return read_conditions(node, keys_of("recipe/when_of_file"), own);
}

std::vector<Need> read_needs(const JsonNode& node, const std::vector<ComponentVersion>& own) {
  std::vector<Need> needs;
  for (const JsonNode& item : node.items()) {
    const bool any = item.is_object() && item.find("any").has_value();
    Need need = any ? read_any_need(item, own) : read_plain_need(item, own);
    for (const Need& other : needs)
      if (same_need(need, other))
        item.fail(fmt::format("{}/{} is needed twice", name_of(need.kind), need.name),
                  "first at " + other.where.pointer);
    needs.push_back(std::move(need));
  }
  return needs;
}

bool holds(const When& when, const Version& own, const Target& target) {
  return when.version.contains(own) && (when.target.empty() || target.matches(when.target));
}

std::vector<OpenNeed> needs_that_hold(const std::vector<Need>& needs, const Version& own,
                                      const Target& target) {
  std::vector<OpenNeed> open;
  for (const Need& need : needs) {
    if (!holds(need.when, own, target)) continue;
    OpenNeed one{&need, {}};
    if (need.any.empty()) one.options.push_back(&need);
    for (const Need& option : need.any)
      if (holds(option.when, own, target)) one.options.push_back(&option);
    if (!one.options.empty()) open.push_back(std::move(one));
  }
  return open;
}

std::string describe(const Need& need) {
  std::string text = fmt::format("{} {}", name_of(need.kind), need.name);
  return need.range.is_any() ? text : text + " " + need.range.text();
}

}  // namespace kiln
