#include "factory/engine/own_ids.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "factory/base/text.h"

namespace kiln {
namespace {

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "ada:100000:65536": where the range ends; 0 for what is no such line.
std::uint64_t end_of_range(std::string_view line) {
  const auto parts = split(line, ':');
  return parts.size() == 3 ? number_in(parts[1]) + number_in(parts[2]) : 0;
}

}  // namespace

bool is_single_id(std::string_view uid_map) {
  std::uint64_t mapped = 0;
  for (const std::string_view line : split(uid_map, '\n')) {
    const std::size_t blank = line.find_last_of(" \t");
    if (blank != std::string_view::npos) mapped += number_in(line.substr(blank + 1));
  }
  return mapped == 1;
}

std::vector<IdRange> ranges_of(std::string_view subordinate_ids, std::string_view user, unsigned number) {
  std::vector<IdRange> ranges;
  for (const std::string_view line : split(subordinate_ids, '\n')) {
    const auto parts = split(line, ':');
    if (parts.size() != 3 || (parts[0] != user && parts[0] != std::to_string(number))) continue;
    const IdRange range{number_in(parts[1]), number_in(parts[2])};
    if (range.count > 0) ranges.push_back(range);
  }
  return ranges;
}

bool has_range(std::string_view subordinate_ids, std::string_view user, unsigned number) {
  return !ranges_of(subordinate_ids, user, number).empty();
}

std::vector<std::string> id_map(unsigned own, const std::vector<IdRange>& ranges) {
  std::vector<std::string> words = {"0", std::to_string(own), "1"};
  std::uint64_t next = 1;
  for (const IdRange& range : ranges) {
    for (const std::uint64_t number : {next, range.start, range.count})
      words.push_back(std::to_string(number));
    next += range.count;
  }
  return words;
}

std::string missing_ranges(std::string_view subuid, std::string_view subgid, std::string_view user) {
  constexpr std::uint64_t kFirst = 100000, kCount = 65536;  // login.defs(5): SUB_UID_MIN, SUB_UID_COUNT
  std::uint64_t start = kFirst;
  for (const std::string_view file : {subuid, subgid})
    for (const std::string_view line : split(file, '\n')) start = std::max(start, end_of_range(line));
  const std::string line = fmt::format("{}:{}:{}", user, start, kCount);
  return fmt::format("`echo {} >> /etc/subuid` and `echo {} >> /etc/subgid`", line, line);
}

bool speaks_of_ids(std::string_view words) {
  constexpr std::array kIdWords = {
      "insufficient uids", "chown",     "setgroups", "setegid", "seteuid",
      "setresuid",         "newuidmap", "newgidmap", "subuid",  "changing ownership"};
  const std::string lower = lower_case(std::string(words));
  return std::ranges::any_of(kIdWords,
                             [&](const char* word) { return lower.find(word) != std::string::npos; });
}

std::string own_user(const std::map<std::string, std::string>& environment) {
  // Set by `buildah unshare` and `podman unshare`.
  const auto outside = environment.find("_CONTAINERS_ROOTLESS_UID");
  const uid_t number =
      outside == environment.end() ? ::geteuid() : static_cast<uid_t>(number_in(outside->second));
  const passwd* user = ::getpwuid(number);
  return user != nullptr ? user->pw_name : std::to_string(number);
}

Error explained_by_ids(const Error& error, const FileSystem& files,
                       const std::map<std::string, std::string>& environment) {
  if (!speaks_of_ids(error.message()) || !is_single_id(files.read("/proc/self/uid_map").value_or("")))
    return error;
  const std::string user = own_user(environment);
  return Error(ExitCode::tool_missing,
               fmt::format("{}: {} has no subordinate ids, and this image's files belong to several users",
                           error.message(), user),
               "an administrator adds them: " + missing_ranges(files.read("/etc/subuid").value_or(""),
                                                               files.read("/etc/subgid").value_or(""), user));
}

}  // namespace kiln
