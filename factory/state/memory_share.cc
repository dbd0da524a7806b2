#include "factory/state/memory_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "factory/base/text.h"
#include "factory/oci/registry_call.h"
#include "factory/os/processors.h"

namespace kiln {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};
constexpr const char* kTurn = "turn";  // held by whoever looks at the others and changes its own

std::string text_of(const Share& share) {
  return fmt::format("{} {} {}", share.number, share.need, share.is_running ? 1 : 0);
}

// What cannot be read (a full disk) has begun: nobody is to wait for its turn.
Share share_from(const std::string& text) {
  Share share;
  int running = 0;
  if (!(std::istringstream(text) >> share.number >> share.need >> running)) return {0, 0, true};
  share.is_running = running == 1;
  return share;
}

std::size_t waiting_before(const Share& mine, const std::vector<Share>& others) {
  return static_cast<std::size_t>(std::ranges::count_if(
      others, [&](const Share& other) { return !other.is_running && other.number < mine.number; }));
}

std::uint64_t running_need(const std::vector<Share>& shares) {
  std::uint64_t sum = 0;
  for (const Share& share : shares)
    if (share.is_running) sum += share.need;
  return sum;
}

}  // namespace

bool may_start(const Share& mine, const std::vector<Share>& others, std::uint64_t capacity) {
  if (waiting_before(mine, others) > 0) return false;
  const bool is_alone = std::ranges::none_of(others, [](const Share& other) { return other.is_running; });
  return is_alone || (mine.need <= capacity && running_need(others) <= capacity - mine.need);
}

MemoryShare::MemoryShare(const fs::path& folder, std::uint64_t need, std::uint64_t capacity,
                         const std::function<void(const std::string&)>& on_wait)
    : folder_(folder), file_(folder / unique_name()) {
  mine_.need = need;
  try {
    come();
    std::string told;
    for (std::string why; !try_start(capacity, why); wait_unless_interrupted(kBetweenLooks)) {
      if (why != told) on_wait(why);
      told = why;
    }
  } catch (...) {
    go();
    throw;
  }
}

void MemoryShare::come() {
  const FileLock turn = FileLock::acquire(folder_ / kTurn);
  for (const Share& other : others()) mine_.number = std::max(mine_.number, other.number + 1);
  lock_ = FileLock::acquire(file_);
  lock_->write(text_of(mine_));
}

bool MemoryShare::try_start(std::uint64_t capacity, std::string& why) {
  const FileLock turn = FileLock::acquire(folder_ / kTurn);
  const std::vector<Share> shares = others();
  if (may_start(mine_, shares, capacity)) {
    mine_.is_running = true;
    lock_->write(text_of(mine_));
    return true;
  }
  why = fmt::format("needs {} of memory, running steps have {} of {}", memory_text(mine_.need),
                    memory_text(running_need(shares)), memory_text(capacity));
  if (const std::size_t before = waiting_before(mine_, shares); before > 0)
    why += fmt::format(", after {} that came before", counted(before, "step"));
  return false;
}

std::vector<Share> MemoryShare::others() const {
  const RealFileSystem files;
  std::vector<Share> shares;
  for (const std::string& name : files.list(folder_)) {
    const fs::path file = folder_ / name;
    if (name == kTurn || file == file_) continue;
    if (FileLock::of_the_dead(file)) {
      std::error_code ignored;  // gone before us
      fs::remove(file, ignored);
    } else if (auto text = files.read(file)) {
      shares.push_back(share_from(*text));
    }
  }
  return shares;
}

void MemoryShare::go() const {
  std::error_code ignored;  // it is unlocked with us
  fs::remove(file_, ignored);
}

MemoryShare::~MemoryShare() { go(); }

}  // namespace kiln
