#include "factory/distribution/silence.h"

#include <fmt/format.h>

namespace kiln {

bool Silence::lasts(std::uint64_t bytes, double now) {
  if (bytes < then_) then_ = bytes;  // it began again
  moved_ = bytes - then_;
  if (moved_ > 0 && static_cast<double>(moved_) >= kLeastRate * (now - since_)) {
    then_ = bytes;
    since_ = now;
  }
  return limit_ > 0 && now - since_ > limit_;
}

std::string Silence::text() const {
  if (moved_ == 0) return fmt::format("no byte came for {:.0f} s", limit_);
  return fmt::format("fewer than {:.0f} KiB a second for {:.0f} s", kLeastRate / 1024, limit_);
}

}  // namespace kiln
