#include "factory/night/lease.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "factory/base/durable_file.h"
#include "factory/base/json.h"
#include "factory/night/night_files.h"

namespace kiln {
namespace {

constexpr const char* kMade = ".new-";  // a lease before it has its number

struct LeaseFile {
  std::string holder;
  std::string machine;
  bool released = false;
};

std::string this_machine() {
  return RealFileSystem().read("/proc/sys/kernel/random/boot_id").value_or(host_name());
}

std::string lease_json(const LeaseFile& lease) {
  return Json{{"holder", lease.holder}, {"machine", lease.machine}, {"released", lease.released}}.dump() +
         "\n";
}

// nullopt: it was taken away meanwhile. A lease that cannot be read has a holder.
std::optional<LeaseFile> read_lease(const fs::path& file) {
  const auto text = RealFileSystem().read(file);
  if (!text) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, false);
  auto member = [&](const char* name) {
    auto found = json.is_object() ? json.find(name) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  LeaseFile lease{member("holder"), member("machine"), false};
  if (lease.holder.empty()) lease.holder = "an unknown holder (" + file.string() + " cannot be read)";
  lease.released = json.is_object() && json.value("released", Json(false)) == Json(true);
  return lease;
}

// Oldest first.
std::vector<std::int64_t> lease_numbers(const fs::path& folder) {
  return numbers_in(folder, RealFileSystem());
}

fs::path lease_path(const fs::path& folder, std::int64_t number) { return folder / std::to_string(number); }

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

// Time since the last sign of life, by the clock of the file server; 0 if that cannot be known, so that the
// holder counts as alive.
std::chrono::seconds silence_of(const fs::path& file) {
  struct stat seen {};
  if (::stat(file.c_str(), &seen) != 0) return std::chrono::seconds(0);
  std::string pattern = (file.parent_path() / (".now-" + host_name() + "-XXXXXX")).string();
  const int descriptor = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (descriptor < 0) return std::chrono::seconds(0);
  struct stat now {};
  const bool known = ::futimens(descriptor, nullptr) == 0 && ::fstat(descriptor, &now) == 0;
  ::close(descriptor);
  ::unlink(pattern.c_str());
  if (!known) return std::chrono::seconds(0);
  return std::chrono::seconds((nanoseconds(now.st_mtim) - nanoseconds(seen.st_mtim)) / 1'000'000'000);
}

bool is_alive(const fs::path& file, const LeaseFile& lease, std::chrono::seconds most_silent) {
  if (lease.released) return false;
  if (lease.machine == this_machine()) return !FileLock::of_the_dead(file) && fs::exists(file);
  return silence_of(file) <= most_silent;
}

// Made whole under a unique name; nullopt: another process was faster.
std::optional<FileLock> make_lease(const fs::path& folder, std::int64_t number, const LeaseFile& lease) {
  const fs::path made = folder / (std::string(kMade) + host_name() + "-" + unique_name());
  FileLock lock = FileLock::acquire(made);
  const std::string text = lease_json(lease);
  lock.write(text);
  if (RealFileSystem().read(made) != text) {
    ::unlink(made.c_str());
    throw Error(ExitCode::store, "cannot write " + made.string(), "is the disk full?");
  }
  const int linked = ::link(made.c_str(), lease_path(folder, number).c_str());
  const int why = errno;
  ::unlink(made.c_str());
  if (linked == 0) return lock;
  if (why == EEXIST) return std::nullopt;
  fail_with_errno(why, "making", lease_path(folder, number));
}

void remove_before(const fs::path& folder, std::int64_t number) {
  std::error_code ignored;
  for (std::int64_t old : lease_numbers(folder))
    if (old < number) fs::remove(lease_path(folder, old), ignored);
}

// Removes the files of processes that were killed while they asked for the lease: no process of this machine
// holds the lock of such a file, and other machines have not touched theirs for long.
void remove_leavings(const fs::path& folder, std::chrono::seconds most_silent) {
  const std::string own = std::string(kMade) + host_name() + "-";
  for (const std::string& name : RealFileSystem().list(folder)) {
    if (!name.starts_with('.')) continue;
    const fs::path file = folder / name;
    std::error_code ignored;
    if ((name.starts_with(own) && FileLock::of_the_dead(file)) || silence_of(file) > most_silent)
      fs::remove(file, ignored);
  }
}

}  // namespace

// Touches the file until it ends.
class Lease::Signs {
 public:
  Signs(fs::path file, std::chrono::seconds every)
      : thread_([this, file = std::move(file), every] {
          std::unique_lock lock(mutex_);
          while (!wake_.wait_for(lock, every, [this] { return ended_; }))
            ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
        }) {}
  ~Signs() {
    {
      std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Signs(const Signs&) = delete;
  Signs& operator=(const Signs&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;  // last: the others are there when it begins
};

std::optional<Lease> Lease::try_acquire(const fs::path& folder, const std::string& holder,
                                        std::chrono::seconds most_silent) {
  make_durable_folder(folder);
  while (true) {
    const std::vector<std::int64_t> numbers = lease_numbers(folder);
    const std::int64_t last = numbers.empty() ? 0 : numbers.back();
    if (last > 0) {
      const auto lease = read_lease(lease_path(folder, last));
      if (!lease) continue;
      if (is_alive(lease_path(folder, last), *lease, most_silent)) return std::nullopt;
    }
    auto lock = make_lease(folder, last + 1, {holder, this_machine(), false});
    if (!lock) continue;
    if (lease_numbers(folder).back() == last + 1) {
      remove_before(folder, last + 1);
      remove_leavings(folder, most_silent);
      return Lease(folder, last + 1, holder, std::move(*lock), most_silent);
    }
    // Others came and went since we looked: ours was never the highest.
    std::error_code ignored;
    fs::remove(lease_path(folder, last + 1), ignored);
  }
}

std::optional<LeaseHolder> Lease::holder(const fs::path& folder) {
  const std::vector<std::int64_t> numbers = lease_numbers(folder);
  if (numbers.empty()) return std::nullopt;
  const auto lease = read_lease(lease_path(folder, numbers.back()));
  if (!lease || !is_alive(lease_path(folder, numbers.back()), *lease, std::chrono::seconds::max()))
    return std::nullopt;
  return LeaseHolder{lease->holder, silence_of(lease_path(folder, numbers.back()))};
}

Lease::Lease(fs::path folder, std::int64_t number, std::string holder, FileLock lock,
             std::chrono::seconds most_silent)
    : folder_(std::move(folder)),
      number_(number),
      holder_(std::move(holder)),
      lock_(std::make_unique<FileLock>(std::move(lock))),
      signs_(std::make_unique<Signs>(lease_path(folder_, number_),
                                     std::max(most_silent / 5, std::chrono::seconds(1)))) {}

Lease::Lease(Lease&&) noexcept = default;

// What stays says that this number was used.
Lease::~Lease() {
  if (!lock_) return;
  signs_.reset();
  lock_->write(lease_json({holder_, this_machine(), true}));
}

void Lease::need() const {
  const std::vector<std::int64_t> numbers = lease_numbers(folder_);
  if (!numbers.empty() && numbers.back() == number_) return;
  std::string by;
  if (!numbers.empty())
    if (const auto lease = read_lease(lease_path(folder_, numbers.back()))) by = " by " + lease->holder;
  throw Error(ExitCode::locked, "the lease of this night was taken" + by,
              "this machine gave no sign of life for too long; the other night continues");
}

}  // namespace kiln
