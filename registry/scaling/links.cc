#include "registry/scaling/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

// The slowness of the link (seconds of its transfers over those that it was said to have) by least squares.
std::optional<double> slowness(const Links& links, const Link& link, std::span<const TimedRun> runs,
                               double bytes) {
  const double alone = runs.front().seconds;
  double explained = 0, expected = 0;
  for (const TimedRun& run : runs) {
    if (run.ranks < 2 || &link_for(links, run.ranks) != &link) continue;
    const MessageCost cost = link.all_reduce(run.ranks, bytes);
    explained += cost.transfer * (run.seconds - alone - cost.latency);
    expected += cost.transfer * cost.transfer;
  }
  if (expected <= 0) return std::nullopt;
  return std::clamp(explained / expected, 0.1, 1000.0);
}

}  // namespace

MessageCost& MessageCost::operator+=(const MessageCost& other) {
  latency += other.latency;
  transfer += other.transfer;
  return *this;
}

MessageCost Link::all_reduce(std::int64_t count, double bytes) const { return 2 * all_gather(count, bytes); }

MessageCost Link::all_gather(std::int64_t count, double bytes) const {
  const double steps = static_cast<double>(count - 1);
  return {steps * latency, steps * bytes / static_cast<double>(count) / bandwidth};
}

const Link& link_for(const Links& links, std::int64_t ranks) {
  for (const Link& link : links)
    if (ranks <= link.ranks) return link;
  return links.back();
}

Links abci_links() {
  return {{4, 9e-6, 50e9}, {68, 30.31e-6, 12.5e9}, {136, 30.49e-6, 12.5e9}, {kMostRanks, 30.98e-6, 12.5e9}};
}

Links read_links(std::string_view text, std::string_view what) {
  Links links;
  for (std::string_view part : split(text, ',')) {
    const auto words = split(trimmed(part), ':');
    if (words.size() != 3)
      throw Error(ExitCode::input, fmt::format("{}: '{}' is not RANKS:SECONDS:BYTES_PER_SECOND", what, part),
                  "write 4:9e-6:50e9,512:30e-6:12.5e9");
    links.push_back(
        {read_ranks(words[0], what), read_positive(words[1], what), read_positive(words[2], what)});
    const Link& link = links.back();
    if (link.latency > 10)
      throw Error(ExitCode::input, fmt::format("{}: a latency of {} s", what, words[1]),
                  "the latency is in seconds: 30e-6 is 30 microseconds");
    if (link.bandwidth < 1e3 || link.bandwidth > 1e14)
      throw Error(ExitCode::input, fmt::format("{}: a bandwidth of {} bytes per second", what, words[2]),
                  "12.5e9 is 100 Gbit/s");
    if (links.size() > 1 && link.ranks <= links[links.size() - 2].ranks)
      throw Error(ExitCode::input,
                  fmt::format("{}: {} ranks follow {}", what, link.ranks, links[links.size() - 2].ranks),
                  "name the links from the fewest ranks to the most");
  }
  return links;
}

Links fit_links(Links links, std::span<const TimedRun> runs, double bytes) {
  if (runs.back().ranks < 2)
    throw Error(ExitCode::input, "the times are of one rank only: a link joins at least two");
  std::vector<std::optional<double>> factors;
  for (const Link& link : links) factors.push_back(slowness(links, link, runs, bytes));
  double last = 1;
  for (std::size_t i = 0; i < links.size(); ++i) {
    last = factors[i].value_or(last);
    links[i].bandwidth /= last;
  }
  return links;
}

}  // namespace kiln
