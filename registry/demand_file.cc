// The file of the counters: a line a question, summed up when it has grown.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/durable_file.h"
#include "base/read_whole.h"
#include "registry/demand.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFile = "demand.jsonl";
constexpr std::uint64_t kSumUpFrom = 4u << 20;  // bytes
constexpr std::size_t kMostKept = 4000;         // questions, those asked most: at most 3.2 MB
constexpr std::uint64_t kMostRead = 64u << 20;

// The file, locked and the one of that name: whoever sums it up puts another in its place.
class LockedFile {
 public:
  explicit LockedFile(const fs::path& file) {
    for (int attempt = 0; attempt < kAttempts && descriptor_ < 0; ++attempt) {
      open(file);
      if (descriptor_ < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ~LockedFile() { close(); }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  // All of it or nothing.
  bool append(const std::string& line) {
    struct stat before {};
    if (::fstat(descriptor_, &before) != 0) return false;
    if (::write(descriptor_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
      size_ = static_cast<std::uint64_t>(before.st_size) + line.size();
      return true;
    }
    static_cast<void>(::ftruncate(descriptor_, before.st_size) == 0);
    return false;
  }
  std::uint64_t size() const { return size_; }

 private:
  static constexpr int kAttempts = 50;  // of a millisecond: a counter is not worth more

  void open(const fs::path& file) {
    descriptor_ = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                         0644);  // a pipe: no
    if (descriptor_ < 0) return;
    struct stat held {};
    struct stat named {};
    const bool ours = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor_, &held) == 0 &&
                      ::stat(file.c_str(), &named) == 0 && S_ISREG(held.st_mode) &&
                      held.st_ino == named.st_ino && held.st_dev == named.st_dev;
    if (!ours) close();
  }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

void sum_up(const fs::path& file) {
  std::vector<Demand> sums = sum_of_demand(read_whole(file, kMostRead).value_or(""));
  if (sums.size() > kMostKept) {
    std::stable_sort(sums.begin(), sums.end(),
                     [](const Demand& a, const Demand& b) { return a.count > b.count; });
    sums.resize(kMostKept);
  }
  std::string text;
  for (const Demand& demand : sums) text += demand_line(demand);
  DurableFile written(file.parent_path());
  written.write(text.data(), text.size());
  written.publish(file);
}

}  // namespace

bool record_demand(const fs::path& state, const Demand& demand) {
  const std::string line = demand_line(demand);
  if (line.empty()) return false;
  LockedFile file(state / kFile);
  if (!file.is_open() || !file.append(line)) return false;
  try {
    if (file.size() >= kSumUpFrom) sum_up(state / kFile);
  } catch (const Error&) {  // the next one does it
  }
  return true;
}

std::vector<Demand> read_demand(const fs::path& state) {
  return sum_of_demand(read_whole(state / kFile, kMostRead).value_or(""));
}

}  // namespace kiln
