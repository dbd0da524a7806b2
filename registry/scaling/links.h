// The cost of messages between ranks: latency and bandwidth, by the number of ranks. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "registry/scaling/speedup.h"

namespace kiln {

// Of one message. The two parts are apart because they have different cures.
struct MessageCost {
  double latency = 0, transfer = 0;  // seconds
  double seconds() const { return latency + transfer; }
  MessageCost& operator+=(const MessageCost& other);
  friend MessageCost operator*(double times, MessageCost cost) {
    return {times * cost.latency, times * cost.transfer};
  }
};

struct Link {
  std::int64_t ranks = 0;  // as many ranks as this link joins at most
  double latency = 0;      // seconds
  double bandwidth = 0;    // bytes a second
  // Ring algorithms over `ranks` ranks; `bytes` is the whole of what is reduced or gathered.
  MessageCost all_reduce(std::int64_t ranks, double bytes) const;
  MessageCost all_gather(std::int64_t ranks, double bytes) const;
  MessageCost send(double bytes) const { return {latency, bytes / bandwidth}; }
};

// Ascending; the last one also joins all ranks beyond its own.
using Links = std::vector<Link>;
const Link& link_for(const Links& links, std::int64_t ranks);  // REQUIRES: links is not empty

// Those of ABCI as the oracle's authors set them: NVLink in a node of 4 GPUs, then InfiniBand EDR within 17
// nodes, within a rack of 34, and beyond.
Links abci_links();

// "4:9e-6:50e9,512:30e-6:12.5e9": ranks, seconds, bytes a second. Throws Error(input).
Links read_links(std::string_view text, std::string_view what);

// `links` with the bandwidths that explain the times of data-parallel steps best: the time of one rank, and a
// ring over `bytes` of gradients. Each link is fitted from the runs that it joins, and keeps its latency,
// which so few runs cannot separate from the bandwidth; a link without runs takes the factor of the one
// before it. Never faster than ten times, or slower than a thousandth of, what it was.
// REQUIRES: the first run is of one rank. Throws Error(input) when no run has more.
Links fit_links(Links links, std::span<const TimedRun> runs, double bytes);

}  // namespace kiln
