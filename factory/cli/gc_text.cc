#include "factory/cli/gc_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/cli/print.h"
#include "factory/cli/table.h"
#include "factory/report/sharing.h"

namespace kiln {
namespace {

std::string size_or_blank(std::uint64_t bytes) { return bytes == 0 ? "" : size_text(bytes); }

std::uint64_t bytes_of(const std::vector<Garbage>& garbage) {
  std::uint64_t bytes = 0;
  for (const Garbage& one : garbage) bytes += one.bytes;
  return bytes;
}

// Right-aligned in its column.
std::string padded(const std::string& text, std::size_t width) { return fmt::format("{:>{}}", text, width); }

struct Group {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
};

void print_groups(const std::vector<Garbage>& garbage) {
  std::map<std::pair<GarbageKind, std::string>, Group> groups;
  for (const Garbage& one : garbage) {
    Group& group = groups[{one.kind, one.why}];
    ++group.count;
    group.bytes += one.bytes;
  }
  constexpr std::size_t kSize = 10;
  constexpr std::size_t kCount = 6;
  Table table({"WHAT", padded("COUNT", kCount), padded("SIZE", kSize), "WHY"});
  for (const auto& [of, group] : groups)
    table.add({name_of(of.first), padded(std::to_string(group.count), kCount),
               padded(size_or_blank(group.bytes), kSize), of.second});
  table.print();
}

void print_each(const std::vector<Garbage>& garbage) {
  constexpr std::size_t kSize = 10;
  Table table({"WHAT", "NAME", padded("SIZE", kSize), "WHY"});
  for (const Garbage& one : garbage)
    table.add({name_of(one.kind), one.name, padded(size_or_blank(one.bytes), kSize), one.why});
  table.print();
}

Json to_json(const std::vector<Garbage>& garbage) {
  Json list = Json::array();
  for (const Garbage& one : garbage)
    list.push_back({{"kind", name_of(one.kind)}, {"name", one.name}, {"why", one.why}, {"bytes", one.bytes}});
  return list;
}

Json to_json(const Survey& survey, bool removed) {
  Json kept = Json::array();
  for (const auto& [number, why] : survey.roots.snapshots) kept.push_back({{"number", number}, {"why", why}});
  return {{"deleted", removed},
          {"bytes", bytes_of(survey.garbage)},
          {"garbage", to_json(survey.garbage)},
          {"kept_snapshots", std::move(kept)},
          {"notes", survey.notes}};
}

}  // namespace

void print_garbage(const Survey& survey, const GcOutput& output, bool removed) {
  if (output.format == "json") return print_json(to_json(survey, removed));
  const std::string kept =
      survey.roots.snapshots.empty() ? "" : counted(survey.roots.snapshots.size(), "snapshot") + " kept; ";
  if (survey.garbage.empty()) return say("{}nothing to collect\n", kept);
  if (output.verbose)
    print_each(survey.garbage);
  else
    print_groups(survey.garbage);
  const std::string size = size_text(bytes_of(survey.garbage));
  if (removed) return say("\n{}{} freed\n", kept, size);
  say("\n{}{} to free; nothing is changed: `kiln gc --delete` does it\n", kept, size);
}

void print_contents(const StateContents& contents, const GcOutput& output, bool removed) {
  if (output.format == "json")
    return print_json({{"deleted", removed},
                       {"bytes", bytes_of(contents.parts)},
                       {"parts", to_json(contents.parts)},
                       {"left", contents.unknown}});
  std::map<std::string, std::uint64_t> sizes;
  for (const Garbage& part : contents.parts) sizes[part.why] += part.bytes;
  constexpr std::size_t kSize = 10;
  Table table({padded("SIZE", kSize), "WHAT"});
  for (const auto& [what, bytes] : sizes) table.add({padded(size_or_blank(bytes), kSize), what});
  if (!sizes.empty()) table.print();
  for (const std::string& name : contents.unknown) say("{} is not kiln's, and stays\n", name);
  const std::string size = size_text(bytes_of(contents.parts));
  if (contents.parts.empty()) return say("nothing to collect\n");
  if (removed) return say("\n{} freed: the state folder is empty\n", size);
  say("\nall of it, {}; nothing is changed: `kiln gc --all --delete` does it\n", size);
}

}  // namespace kiln
