// Chooses the images that a night measures: those that claim more than stock, and that have no measurement
// against their stock with these bits, this version of the workload and on this kind of machine. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "factory/plan/build_plan.h"
#include "factory/record/image_record.h"

namespace kiln {

// A workload of the suite, on this machine.
struct MeasuredWorkload {
  std::string workload;
  int ranks = 0;
  bool with_data = false;
  std::string files;  // digest of the workload's files, 64 hex
  HostDescription host;
};

// An image of the index that the suite chooses for the workload.
struct MeasureCandidate {
  std::uint32_t image = 0;  // of the plan
  std::string key;
  std::string group;       // whose images have one yardstick: framework, version and accelerators
  bool is_stock = false;   // the project's own build
  bool claims = false;     // claims_gain()
  bool was_known = false;  // an earlier night has a word for it under this name, perhaps of other bits
  bool fell_back = false;  // it was proven before, and is not any more
  std::vector<Measurement> measurements{};  // of its bits, by their time
};

// In the order in which images are measured.
enum class MeasureNeed {
  fell_back,  // measured again, until a night proves it or it leaves the matrix
  changed,    // the image, its stock, the workload or the machine
  missing,    // never measured
  none
};
// "fell back", "changed", "new", "measured".
std::string_view name_of(MeasureNeed need);

// `stock`: keys of the stock images of its group. REQUIRES: it claims a gain, and is not stock.
MeasureNeed need_of(const MeasureCandidate& candidate, const std::vector<std::string>& stock,
                    const MeasuredWorkload& place);

// Images that take turns.
struct MeasureSession {
  std::string group;
  MeasureNeed need = MeasureNeed::missing;  // the first of its images'
  ImageNumbers images;                      // the stock images first
};

struct MeasureAgenda {
  std::vector<MeasureSession> sessions;  // by need, then in the order of the candidates
  std::vector<std::string> no_stock;     // groups with something to measure and no stock image, sorted
};

// A session has the stock images of a group and at most so many others, so that a budget of an hour is spent
// in pieces that end.
inline constexpr std::size_t kMostInSession = 6;

MeasureAgenda measure_agenda(const std::vector<MeasureCandidate>& candidates, const MeasuredWorkload& place);

}  // namespace kiln
