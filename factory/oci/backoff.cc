#include "factory/oci/backoff.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace kiln {

double backoff(int tries) {
  constexpr double kLongest = 30;
  static thread_local std::mt19937 random{std::random_device()()};  // what is waited need not be told again
  const double longest = std::min(kLongest, std::ldexp(1.0, std::min(tries - 1, 10)));
  return longest * std::uniform_real_distribution<double>(0.5, 1)(random);
}

}  // namespace kiln
