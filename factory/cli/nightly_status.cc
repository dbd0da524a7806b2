#include "factory/cli/nightly_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/app/night_watch.h"
#include "factory/cli/print.h"
#include "factory/cli/table.h"
#include "factory/night/lease.h"
#include "factory/night/night_files.h"
#include "factory/night/past_night.h"
#include "factory/recipe/matrix.h"

namespace kiln {
namespace {

constexpr std::size_t kNights = 14;

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
  NightWatch watch;
  // Looked at twice: a night may begin or end while the lease is read.
  watch.begun = folder.begun();
  watch.holder = Lease::holder(state.nights_lease());
  const auto again = folder.begun();
  if (!again || !watch.begun || again->number != watch.begun->number) watch.begun.reset();
  std::vector<PastNight>& nights = watch.nights;
  folder.each_past(
      [&](PastNight past) {
        nights.push_back(std::move(past));
        return nights.size() < kNights;
      },
      &watch.damaged);
  std::reverse(nights.begin(), nights.end());
  watch.now = invocation.clock.unix_seconds();
  const std::string runs = watch.holder ? watch.holder->holder : "";
  const std::string trouble = trouble_of(watch, invocation.site().night);
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
