#include "factory/oci/backoff.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>

namespace kiln {
namespace {

std::optional<std::int64_t> http_date(const std::string& text) {
  for (const char* form :
       {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    std::tm date{};
    const char* end = ::strptime(text.c_str(), form, &date);
    if (end != nullptr && *end == '\0') return ::timegm(&date);
  }
  return std::nullopt;
}

}  // namespace

double backoff(int tries) {
  constexpr double kLongest = 30;
  static thread_local std::mt19937 random{std::random_device()()};  // what is waited need not be told again
  const double longest = std::min(kLongest, std::ldexp(1.0, std::min(tries - 1, 10)));
  return longest * std::uniform_real_distribution<double>(0.5, 1)(random);
}

std::optional<double> seconds_until(const std::string& retry_after, std::int64_t now) {
  if (retry_after.find_first_not_of("0123456789.") == std::string::npos && !retry_after.empty()) {
    char* end = nullptr;
    const double seconds = std::strtod(retry_after.c_str(), &end);
    return *end == '\0' && std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
  }
  const auto date = http_date(retry_after);
  return date ? std::optional(static_cast<double>(std::max<std::int64_t>(0, *date - now))) : std::nullopt;
}

}  // namespace kiln
