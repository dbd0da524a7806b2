// The machine around a run, as Linux reports it. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// Between two readings of /proc/stat (proc(5)); all 0 where the kernel does not say.
struct ProcessorUse {
  double busy = 0;   // processors that did not wait
  double steal = 0;  // part of all time that a hypervisor gave to others, 0 to 1
};
ProcessorUse processor_use(std::string_view before, std::string_view now);

// The average of one minute of /proc/loadavg; 0 for other text.
double load_of(std::string_view loadavg);

// "0-3,8" of sorted processor numbers, as Linux lists them.
std::string processor_list(const std::vector<int>& processors);

// The set variables that tune libraries of mathematics and threads from outside. A workload runs without
// them, so that it measures the image and not the shell that started kiln.
std::map<std::string, std::string> tuning_variables(const std::map<std::string, std::string>& environment);

// Whether `busy` processors of others disturb a measurement on a machine with so many: more than 5 % of
// them, and more than half of one.
bool is_under_load(double busy, int processors);

}  // namespace kiln
