// When a transfer counts as silent, although a byte of it comes now and then. Only for http.cc.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

// Bytes a second. A registry that gives less holds a slot of the build for hours; a modem gives a third of
// it.
inline constexpr double kLeastRate = 16 * 1024;

// A transfer that is silent has moved, for longer than `limit` seconds, fewer bytes than kLeastRate lets
// expect.
class Silence {
 public:
  // `limit`: 0 for none; `now`: of a monotonic clock.
  Silence(double limit, double now) : limit_(limit), since_(now) {}

  // `bytes`: moved since the start, in all.
  bool lasts(std::uint64_t bytes, double now);
  // "no byte came for 180 s", or that it was too slow.
  std::string text() const;

 private:
  double limit_;
  double since_;             // until then it was quick enough
  std::uint64_t then_ = 0;   // bytes at that time
  std::uint64_t moved_ = 0;  // bytes since
};

}  // namespace kiln
