// The change points of series, for the oracle (tests/oracle/change_points.py): a JSON array of numbers a
// line on stdin, an array of [index, p, before, after, change, suspected] a line on stdout.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "factory/bench/change_points.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json found = nlohmann::json::array();
    for (const kiln::ChangePoint& point :
         kiln::find_change_points(nlohmann::json::parse(line).get<std::vector<double>>()))
      found.push_back({point.index, point.levels.p, point.levels.before, point.levels.after,
                       point.levels.change(), point.suspected});
    std::cout << found.dump() << '\n';
  }
}
