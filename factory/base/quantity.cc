#include "factory/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "factory/base/json.h"

namespace kiln {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};
constexpr Unit kTimes[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
constexpr Unit kSizes[] = {{"B", 1},
                           {"KiB", std::uint64_t{1} << 10},
                           {"MiB", std::uint64_t{1} << 20},
                           {"GiB", std::uint64_t{1} << 30}};

template <std::size_t N>
std::optional<std::uint64_t> quantity_of(std::string_view text, const Unit (&units)[N]) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::uint64_t number = 0;
  bool fits = digits > 0;
  for (char c : text.substr(0, digits))
    fits = fits && !__builtin_mul_overflow(number, 10u, &number) &&
           !__builtin_add_overflow(number, static_cast<std::uint64_t>(c - '0'), &number);
  for (const Unit& unit : units)
    if (fits && text.substr(digits) == unit.name && !__builtin_mul_overflow(number, unit.factor, &number) &&
        number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return number;
  return std::nullopt;
}

template <std::size_t N>
std::uint64_t read_quantity(const JsonNode& node, const Unit (&units)[N], std::string_view what,
                            std::string_view hint) {
  const std::string text = node.is_number() ? "" : node.string();
  if (auto quantity = quantity_of(text, units)) return *quantity;
  node.fail(node.is_number() ? fmt::format("expected {} with its unit, found a number", what)
                             : fmt::format("expected {}, found '{}'", what, text),
            std::string(hint));
}

}  // namespace

std::optional<std::chrono::seconds> duration_of(std::string_view text) {
  const auto seconds = quantity_of(text, kTimes);
  return seconds ? std::optional(std::chrono::seconds(*seconds)) : std::nullopt;
}

std::chrono::seconds read_duration(const JsonNode& node, std::string_view what, std::string_view hint) {
  return std::chrono::seconds(read_quantity(node, kTimes, what, hint));
}

std::chrono::seconds read_limit_of_time(const JsonNode& node) {
  return read_duration(node, "a duration",
                       "a whole number and s, m, h or d, such as \"45m\"; \"0s\" is no limit");
}

std::uint64_t read_limit_of_size(const JsonNode& node) {
  return read_quantity(node, kSizes, "a size",
                       "a whole number and B, KiB, MiB or GiB, such as \"256MiB\"; \"0B\" is no limit");
}

}  // namespace kiln
