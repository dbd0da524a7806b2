#include "factory/app/bench_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {

std::vector<int> ranks_of(const std::string& text) {
  constexpr std::size_t kDigits = 4;
  std::vector<int> all;
  for (std::string_view item : split(text, ',')) {
    const std::string number(trimmed(item));
    if (number.empty() || number.size() > kDigits || number.front() == '0' ||
        !std::ranges::all_of(number, is_digit))
      throw Error(ExitCode::usage, fmt::format("--ranks: expected numbers of processes, found '{}'", text),
                  "for example 1,2,4");
    all.push_back(std::stoi(number));
  }
  return all;
}

std::vector<BenchWork> works_of_ranks(const BenchWork& work, const std::string& ranks) {
  std::vector<BenchWork> works;
  for (const int number : ranks.empty() ? std::vector<int>{0} : ranks_of(ranks)) {
    works.push_back(work);
    works.back().wishes.ranks = number;
  }
  return works;
}

BenchWork work_of(const BenchWork& work, const SuiteWorkload& workload) {
  BenchWork made = work;
  made.workload = workload.name;
  made.wishes = {workload.steps, workload.ranks, workload.data};
  if (workload.rounds > 0) made.rounds = workload.rounds;
  return made;
}

void count_what_follows(std::vector<BenchWork>& parts, const std::vector<std::size_t>& images) {
  std::size_t after = 0;
  for (std::size_t i = parts.size(); i-- > 0;) {
    parts[i].runs_after = after;
    after += images[i] * static_cast<std::size_t>(parts[i].rounds);
  }
}

BenchWork proving(BenchWork work) {
  work.rounds = std::max(kProvingRounds, work.rounds);
  return work;
}

}  // namespace kiln
