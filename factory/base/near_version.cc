#include "factory/base/near_version.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <tuple>

#include "factory/base/error.h"
#include "factory/base/version.h"

namespace kiln {
namespace {

std::vector<std::string_view> parts_of(std::string_view version) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= version.size();) {
    std::size_t end = version.find_first_of(".-+_", begin);
    if (end == std::string_view::npos) end = version.size();
    parts.push_back(version.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::int64_t number_of(std::string_view part) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), number);
  const bool all = problem == std::errc{} && end == part.data() + part.size();
  return all ? number : std::numeric_limits<std::int64_t>::max();  // a word is far from every number
}

// How near `other` is: parts shared, then the distance of the first that differs; a missing part is 0.
std::tuple<std::size_t, std::int64_t> nearness(std::string_view version, std::string_view other) {
  const auto wanted = parts_of(version);
  const auto found = parts_of(other);
  std::size_t shared = 0;
  while (shared < wanted.size() && shared < found.size() && wanted[shared] == found[shared]) ++shared;
  auto part = [&](const auto& parts) { return shared < parts.size() ? number_of(parts[shared]) : 0; };
  const std::int64_t distance = part(wanted) - part(found);
  return {shared, distance < 0 ? distance : -distance};
}

}  // namespace

std::string did_you_mean_version(std::string_view version, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  std::tuple<std::size_t, std::int64_t> best_nearness{0, 0};
  for (const std::string& other : known) {
    const auto near = nearness(version, other);
    if (std::get<0>(near) == 0) continue;
    const bool newer = best != nullptr && near == best_nearness && Version(other) > Version(*best);
    if (best != nullptr && near <= best_nearness && !newer) continue;
    best = &other;
    best_nearness = near;
  }
  return best == nullptr ? did_you_mean(version, known) : "did you mean '" + *best + "'?";
}

}  // namespace kiln
