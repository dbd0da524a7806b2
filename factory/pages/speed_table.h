// Measured speeds, as tables with a picture in each row: only measurements under equal circumstances are
// together, with their spread. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/pages/page_frame.h"
#include "registry/index/index.h"

namespace kiln {

// Conditions that must be equal for the speeds of two images to be compared.
struct SpeedConditions {
  std::string application;  // in lower case
  std::string workload;
  std::string unit;
  std::string host;  // "AMD EPYC 7B13, 2 processors, nvidia:sm_90"

  auto operator<=>(const SpeedConditions&) const = default;
};

// "AMD EPYC 7B13, 2 processors"; what it does not say of itself is left out.
std::string host_words(const HostDescription& host);

// The latest of an image in each place, in the order of the places.
std::map<SpeedConditions, const Measurement*> latest_speeds(const IndexEntry& entry);

class SpeedTable {
 public:
  explicit SpeedTable(const std::vector<IndexEntry>& entries);

  // Of entry `number`, as markup; "" where nothing was measured. REQUIRES: the entries of the constructor.
  std::string html(std::size_t number, const std::vector<IndexEntry>& entries, const PageNames& names) const;

 private:
  // In each place the entries that have a speed there, by their numbers, the fastest first.
  std::map<SpeedConditions, std::vector<std::size_t>> places_;
};

}  // namespace kiln
