#include "factory/cli/nightly_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/cli/print.h"
#include "factory/cli/table.h"
#include "factory/night/lease.h"
#include "factory/night/night_files.h"
#include "factory/night/past_night.h"
#include "factory/recipe/matrix.h"

namespace kiln {
namespace {

constexpr std::size_t kNights = 14;

// "" while everything is as it should be.
std::string trouble_of(const std::vector<PastNight>& nights, std::int64_t now,
                       const NightSettings& settings) {
  if (nights.empty()) return "no night has ended yet";
  const PastNight& last = nights.back();
  const std::int64_t every = settings.every.count();
  if (every > 0 && now - last.started > every + every / 2)
    return fmt::format("overdue: the last night began at {}", rfc3339(last.started));
  return last.state == NightState::green ? "" : fmt::format("the last night was {}", name_of(last.state));
}

Json status_json(const std::vector<PastNight>& nights, const std::string& runs, const std::string& trouble) {
  Json json{{"trouble", trouble}, {"runs", runs}, {"nights", Json::array()}};
  for (const PastNight& night : nights)
    json["nights"].push_back({{"number", night.number},
                              {"state", name_of(night.state)},
                              {"started", rfc3339(night.started)},
                              {"ended", rfc3339(night.ended)},
                              {"snapshot", night.snapshot},
                              {"headline", night.headline}});
  return json;
}

void print_table(const std::vector<PastNight>& nights) {
  Table table({"NIGHT", "BEGAN", "STATE", "SNAPSHOT", "IMAGES", "NOT GOOD"});
  for (const PastNight& night : nights) {
    table.add({std::to_string(night.number), rfc3339(night.started), std::string(name_of(night.state)),
               night.snapshot == 0 ? "-" : std::to_string(night.snapshot), std::to_string(night.images),
               std::to_string(night.images - night.good)});
  }
  table.print();
}

}  // namespace

void print_night_status(const std::string& matrix, const std::string& format, Invocation& invocation) {
  invocation.need_file(matrix);
  const StatePaths state = invocation.state();
  const std::string name = read_matrix(invocation.files, matrix).name;
  const NightFolder folder(state, name, invocation.files);
  std::vector<PastNight> nights;
  folder.each_report([&](const NightReport& report) {
    nights.push_back(past_of(report));
    return nights.size() < kNights;
  });
  std::reverse(nights.begin(), nights.end());
  const auto holder = Lease::holder(state.nights_lease());
  const std::string runs = holder ? holder->holder : "";
  const std::string trouble = trouble_of(nights, invocation.clock.unix_seconds(), invocation.site().night);
  if (format == "json") {
    print_json(status_json(nights, runs, trouble));
  } else {
    if (!nights.empty()) print_table(nights);
    if (!runs.empty()) say("now: {}\n", runs);
    say("{}\n", trouble.empty() ? "all is well" : trouble);
  }
  if (!trouble.empty()) invocation.exit_code = ExitCode::images_failed;
}

}  // namespace kiln
