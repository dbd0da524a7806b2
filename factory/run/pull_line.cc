#include "factory/run/pull_line.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json_text.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr double kBetweenPullLines = 10;  // seconds
constexpr const char* kClearLine = "\r\x1b[K";

std::string line_of(const PullState& state, ProgressStyle style) {
  if (style != ProgressStyle::json)
    return without_controls(fmt::format("pulling {}: {}", state.image, text_of(state)));
  Json json{{"event", "pull"}, {"image", state.image}, {"bytes", state.bytes}, {"rate", state.rate}};
  if (!state.waits.empty()) json["waits"] = state.waits;
  return printable_json(json, -1);
}

}  // namespace

std::function<void(const PullState&)> pull_teller(ProgressStyle style, const Clock& clock,
                                                  std::function<void(const std::string&)> write) {
  if (style == ProgressStyle::none) return {};
  if (style == ProgressStyle::tty)
    return [style, write = std::move(write)](const PullState& state) {
      write(state.ended ? kClearLine : kClearLine + line_of(state, style));
    };
  return [style, &clock, write = std::move(write),
          told = clock.monotonic_seconds()](const PullState& state) mutable {
    const double now = clock.monotonic_seconds();
    if (state.ended || (state.waits.empty() && now - told < kBetweenPullLines)) return;
    told = now;
    write(line_of(state, style) + "\n");
  };
}

}  // namespace kiln
