// The file of a step history: lines are added under a lock, and it is written anew when it has grown.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/durable_file.h"
#include "base/read_whole.h"
#include "image/state/step_history.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kShortenFrom = 4u << 20;  // bytes: some 14,000 runs, read by each step in some ms
constexpr std::uint64_t kMostRead = 64u << 20;

// The history, locked and the one of that name: whoever shortens it puts another in its place.
class LockedHistory {
 public:
  explicit LockedHistory(const fs::path& file) {
    for (int attempt = 0; attempt < kAttempts && descriptor_ < 0; ++attempt) {
      open(file);
      if (descriptor_ < 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~LockedHistory() { close(); }
  LockedHistory(const LockedHistory&) = delete;
  LockedHistory& operator=(const LockedHistory&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  // All of the line or nothing. What a writer that was killed left of its own gets its end first.
  bool append(const std::string& line) {
    const off_t before = ::lseek(descriptor_, 0, SEEK_END);
    if (before < 0) return false;
    char last = '\n';
    if (before > 0 && ::pread(descriptor_, &last, 1, before - 1) != 1) return false;
    const std::string whole = (last == '\n' ? "" : "\n") + line;
    if (::write(descriptor_, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size())) {
      size_ = static_cast<std::uint64_t>(before) + whole.size();
      return true;
    }
    static_cast<void>(::ftruncate(descriptor_, before) == 0);
    return false;
  }
  std::uint64_t size() const { return size_; }

 private:
  static constexpr int kAttempts = 500;  // five seconds in all: a run that is not kept harms nobody

  void open(const fs::path& file) {
    descriptor_ =
        ::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
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

void shorten(const fs::path& file) {
  std::string text;
  for (const PastRun& run : without_oldest(read_history(file), kShortenFrom / 2)) text += history_line(run);
  DurableFile written(file.parent_path());
  written.write(text.data(), text.size());
  written.publish(file);
}

}  // namespace

bool record_run(const fs::path& file, const PastRun& run) {
  LockedHistory history(file);
  if (!history.is_open() || !history.append(history_line(run))) return false;
  try {
    if (history.size() >= kShortenFrom) shorten(file);
  } catch (const Error&) {  // the next one does it
  }
  return true;
}

std::vector<PastRun> read_history(const fs::path& file, std::string_view component) {
  try {
    return parse_history(read_whole(file, kMostRead).value_or(""), component);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace kiln
