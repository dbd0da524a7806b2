#include "factory/bench/conditions.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace kiln {
namespace {

// Time that processors spent, in ticks: all of it, all but waiting, and what others got.
struct ProcessorTime {
  double all = 0;
  double busy = 0;
  double steal = 0;
  int processors = 0;
};

ProcessorTime processor_time(std::string_view stat) {
  constexpr int kIdle = 3;
  constexpr int kIoWait = 4;
  constexpr int kSteal = 7;
  constexpr int kFields = 8;  // guest time is in user time already
  ProcessorTime time;
  std::istringstream lines{std::string(stat)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    fields >> name;
    if (!name.starts_with("cpu")) continue;
    if (name != "cpu") ++time.processors;
    double ticks = 0;
    for (int field = 0; name == "cpu" && field < kFields && fields >> ticks; ++field) {
      time.all += ticks;
      if (field != kIdle && field != kIoWait) time.busy += ticks;
      if (field == kSteal) time.steal += ticks;
    }
  }
  return time;
}

}  // namespace

ProcessorUse processor_use(std::string_view before, std::string_view now) {
  const ProcessorTime first = processor_time(before);
  const ProcessorTime second = processor_time(now);
  const double all = second.all - first.all;
  if (all <= 0) return {};
  return {(second.busy - first.busy) / all * second.processors,
          std::clamp((second.steal - first.steal) / all, 0.0, 1.0)};
}

double load_of(std::string_view loadavg) {
  const double load = std::strtod(std::string(loadavg).c_str(), nullptr);
  return load > 0 ? load : 0;
}

std::string processor_list(const std::vector<int>& processors) {
  std::string list;
  for (std::size_t i = 0; i < processors.size();) {
    std::size_t end = i + 1;
    while (end < processors.size() && processors[end] == processors[end - 1] + 1) ++end;
    if (!list.empty()) list += ',';
    list += std::to_string(processors[i]);
    if (end - i > 1) list += '-' + std::to_string(processors[end - 1]);
    i = end;
  }
  return list;
}

std::map<std::string, std::string> tuning_variables(const std::map<std::string, std::string>& environment) {
  std::map<std::string, std::string> found;
  for (const auto& [name, value] : environment)
    for (const char* prefix : {"OPENBLAS_", "OMP_", "MKL_", "KMP_", "ONEDNN_"})
      if (name.starts_with(prefix)) found.emplace(name, value);
  return found;
}

bool is_under_load(double busy, int processors) {
  constexpr double kPart = 0.05;
  return busy > std::max(0.5, kPart * processors);
}

}  // namespace kiln
