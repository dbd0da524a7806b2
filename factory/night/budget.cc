#include "factory/night/budget.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>

namespace kiln {
namespace {

ImageNumbers first_of(const std::vector<AgendaItem>& candidates, std::size_t count) {
  ImageNumbers images;
  for (std::size_t i = 0; i < count; ++i) images.push_back(candidates[i].image);
  return images;
}

// More images never take less time, so the last that fits is found by halving.
std::size_t count_that_fit(const std::vector<AgendaItem>& candidates, double seconds,
                           const std::function<double(const ImageNumbers&)>& forecast) {
  std::size_t fits = 1;
  std::size_t too_many = candidates.size() + 1;
  while (fits + 1 < too_many) {
    const std::size_t middle = fits + (too_many - fits) / 2;
    if (forecast(first_of(candidates, middle)) <= seconds)
      fits = middle;
    else
      too_many = middle;
  }
  return fits;
}

bool write_all(int file, std::uint64_t bytes) {
  std::array<std::uint64_t, 8192> block{};
  std::mt19937_64 noise;  // the same each time: it only must not be compressed away
  while (bytes > 0) {
    for (std::uint64_t& word : block) word = noise();
    const ssize_t written = ::write(file, block.data(), std::min<std::uint64_t>(sizeof block, bytes));
    if (written <= 0) return false;
    bytes -= static_cast<std::uint64_t>(written);
  }
  return ::fsync(file) == 0;  // a disk may say only then that it is full
}

}  // namespace

std::string_view name_of(BudgetTurn turn) {
  return turn == BudgetTurn::stale ? "stale" : turn == BudgetTurn::asked ? "asked for" : "never built";
}

NightAgenda agenda_of(std::vector<AgendaItem> candidates, double seconds,
                      const std::function<double(const ImageNumbers&)>& forecast) {
  NightAgenda agenda;
  if (candidates.empty()) return agenda;
  std::ranges::stable_sort(candidates, [](const AgendaItem& a, const AgendaItem& b) {
    return a.turn != b.turn ? a.turn < b.turn : a.asked > b.asked;
  });
  const std::size_t count = count_that_fit(candidates, seconds, forecast);
  agenda.has_no_end = count == 1 && forecast(first_of(candidates, 1)) > seconds;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i >= count) {
      agenda.no_time.push_back(candidates[i].image);
      continue;
    }
    if (i == 0 || candidates[i].turn != candidates[i - 1].turn) agenda.rounds.emplace_back();
    agenda.rounds.back().push_back(candidates[i].image);
  }
  return agenda;
}

bool give_up_reserve(const fs::path& file) {
  std::error_code unknown;
  const fs::space_info space = fs::space(file.parent_path(), unknown);
  if (unknown || space.available >= kReserve) return false;
  return fs::remove(file, unknown);
}

void keep_reserve(const fs::path& file) {
  std::error_code none;
  if (fs::file_size(file, none) == kReserve && !none) return;
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (opened < 0) return;
  const bool is_whole = write_all(opened, kReserve);
  ::close(opened);
  if (!is_whole) fs::remove(file, none);
}

}  // namespace kiln
