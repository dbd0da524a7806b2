#include "factory/site/own_limits.h"

#include <algorithm>

#include "factory/base/json.h"
#include "factory/base/reading.h"

namespace kiln {
namespace {

template <typename Limit>
void widen(Limit& limit, const std::optional<Limit>& own) {
  constexpr Limit kNone{0};
  if (!own || limit == kNone) return;
  limit = *own == kNone ? kNone : std::max(limit, *own);
}

}  // namespace

OwnLimits read_own_limits(const JsonNode& node) {
  OwnLimits limits;
  if (auto wall = node.find("wall")) limits.wall = read_limit_of_time(*wall);
  if (auto silence = node.find("silence")) limits.silence = read_limit_of_time(*silence);
  if (auto log = node.find("log")) limits.log_bytes = read_limit_of_size(*log);
  if (auto memory = node.find("memory")) limits.memory = read_limit_of_size(*memory);
  return limits;
}

CommandLimits replaced(CommandLimits limits, const OwnLimits& own) {
  limits.wall = own.wall.value_or(limits.wall);
  limits.silence = own.silence.value_or(limits.silence);
  limits.log_bytes = own.log_bytes.value_or(limits.log_bytes);
  limits.memory = own.memory.value_or(limits.memory);
  return limits;
}

CommandLimits widened(CommandLimits limits, const OwnLimits& own) {
  widen(limits.wall, own.wall);
  widen(limits.silence, own.silence);
  widen(limits.log_bytes, own.log_bytes);
  widen(limits.memory, own.memory);
  return limits;
}

}  // namespace kiln
