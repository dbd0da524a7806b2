#include "factory/oci/registry_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <thread>

#include "factory/oci/skopeo.h"

namespace kiln {
namespace {

std::optional<std::int64_t> http_date(const std::string& text) {
  for (const char* form :
       {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    std::tm date{};
    const char* end = ::strptime(text.c_str(), form, &date);
    if (end != nullptr && *end == '\0') return ::timegm(&date);
  }
  return std::nullopt;
}

}  // namespace

double backoff(int tries) {
  constexpr double kLongest = 30;
  static thread_local std::mt19937 random{std::random_device()()};  // what is waited need not be told again
  const double longest = std::min(kLongest, std::ldexp(1.0, std::min(tries - 1, 10)));
  return longest * std::uniform_real_distribution<double>(0.5, 1)(random);
}

std::optional<double> seconds_until(const std::string& retry_after, std::int64_t now) {
  if (retry_after.find_first_not_of("0123456789.") == std::string::npos && !retry_after.empty()) {
    char* end = nullptr;
    const double seconds = std::strtod(retry_after.c_str(), &end);
    return *end == '\0' && std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
  }
  const auto date = http_date(retry_after);
  return date ? std::optional(static_cast<double>(std::max<std::int64_t>(0, *date - now))) : std::nullopt;
}

namespace {

constexpr double kBetweenLooks = 0.25;
constexpr double kBetweenWords = 0.5;
constexpr const char* kPartOfBlob = "oci-put-blob";  // skopeo's name for one that is not complete

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t sum = 0;
  std::error_code problem;  // files are renamed while we look
  for (fs::recursive_directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    std::error_code gone;
    const std::uint64_t size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (!gone) sum += size;
  }
  return sum;
}

void remove_parts(const fs::path& layout) {
  std::error_code problem;
  for (fs::directory_iterator entry(layout, problem), end; !problem && entry != end; entry.increment(problem))
    if (entry->path().filename().string().starts_with(kPartOfBlob)) {
      std::error_code ignored;
      fs::remove(entry->path(), ignored);
    }
}

std::string times(int count) { return count == 1 ? "once" : fmt::format("{} times", count); }

class Asking {
 public:
  Asking(const RegistryCall& call, const Skopeo& skopeo)
      : call_(call), skopeo_(skopeo), start_(skopeo.clock.monotonic_seconds()) {
    state_.image = call.image;
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() {
    state_.ended = true;
    tell();
  }

  CommandResult run() {
    for (int tries = 1;; ++tries) {
      setback_.reset();
      CommandResult result = run_once();
      if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
      if (!setback_ && !result.ok()) setback_ = setback_in(result.tail);
      if (!setback_ || result.ok()) return result;
      wait_after(tries);
      if (!call_.layout.empty()) remove_parts(call_.layout);
    }
  }

 private:
  double now() const { return skopeo_.clock.monotonic_seconds(); }
  double wall() const { return static_cast<double>(skopeo_.limits.wall.count()); }
  double stall() const { return static_cast<double>(skopeo_.limits.stall.count()); }

  CommandResult run_once() {
    Command command = skopeo_command(call_.arguments, skopeo_.environment);
    command.capture_stdout = true;
    state_.waits.clear();
    bytes_ = bytes_in(call_.layout);
    grew_ = now();
    command.give_up = [this](std::string_view said) { return gives_up(said); };
    CommandResult result = skopeo_.runner.run(command);
    result.tail = without_debug(result.tail);
    log(result.tail);
    return result;
  }

  // Whether there is no use in waiting for what runs; setback_ then says why.
  bool gives_up(std::string_view said) {
    // skopeo would sleep for it as it sees fit.
    if (auto busy = too_many_requests(said, skopeo_.clock.unix_seconds())) {
      setback_ = std::move(busy);
      return true;
    }
    const double time = now();
    if (time - looked_ < kBetweenLooks) return false;
    looked_ = time;
    const std::uint64_t bytes = bytes_in(call_.layout);
    if (bytes > bytes_) {
      bytes_ = bytes;
      grew_ = time;
    }
    if (wall() > 0 && time - start_ > wall()) {
      setback_ = {fmt::format("not done after {} s", skopeo_.limits.wall.count()), {}};
      return true;
    }
    if (stall() > 0 && time - grew_ > stall()) {
      setback_ = {fmt::format("no byte came for {} s", skopeo_.limits.stall.count()), {}};
      return true;
    }
    if (time - told_ >= kBetweenWords) tell();
    return false;
  }

  // Throws where there is no use in another try.
  void wait_after(int tries) {
    const double time = now() - start_;
    if (wall() > 0 && time > wall()) give_up(setback_->what, tries);
    if (tries > skopeo_.limits.retries) give_up(setback_->what, tries);
    const double delay = setback_->retry_after.value_or(backoff(tries));
    if (delay > kLongestWait)
      give_up(fmt::format("{}, and it asks kiln to wait {:.0f} s (Retry-After), longer than the "
                          "{:.0f} s that kiln waits",
                          setback_->what, delay, kLongestWait),
              tries);
    if (wall() > 0 && time + delay > wall())
      give_up(fmt::format("{}; the next try, in {:.1f} s, would be after the {} s that a pull may take",
                          setback_->what, delay, skopeo_.limits.wall.count()),
              tries);
    state_.waits = fmt::format("{}; try {} of {} in {:.1f} s", setback_->what, tries + 1,
                               skopeo_.limits.retries + 1, delay);
    log("kiln: " + state_.waits);
    tell();
    skopeo_.wait(std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(delay * 1000))));
  }

  [[noreturn]] void give_up(const std::string& what, int tries) const {
    throw Error(ExitCode::network,
                fmt::format("{}: {}; tried {} in {:.0f} s", call_.action, what, times(tries), now() - start_),
                "try again later; the limits of pulls are in the site file (\"pull\")");
  }

  void tell() {
    if (!skopeo_.tell) return;
    const double time = now();
    const std::uint64_t since = bytes_ > state_.bytes ? bytes_ - state_.bytes : 0;
    state_.rate = time > told_ && told_ > 0 ? static_cast<double>(since) / (time - told_) : 0;
    state_.bytes = bytes_;
    told_ = time;
    skopeo_.tell(state_);
  }

  void log(const std::string& text) const {
    if (call_.log.empty() || text.empty()) return;
    std::ofstream(call_.log, std::ios::app) << text << (text.ends_with('\n') ? "" : "\n");
  }

  const RegistryCall& call_;
  const Skopeo& skopeo_;
  double start_;
  PullState state_;
  std::optional<Setback> setback_;
  std::uint64_t bytes_ = 0;                  // in the layout
  double grew_ = 0, looked_ = 0, told_ = 0;  // when: of the clock's monotonic seconds
};

}  // namespace

std::string text_of(const PullState& state) {
  if (!state.waits.empty()) return state.waits;
  return fmt::format("{:.1f} MB, {:.1f} MB/s", static_cast<double>(state.bytes) / 1e6, state.rate / 1e6);
}

void wait_unless_interrupted(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

CommandResult ask_registry(const RegistryCall& call, const Skopeo& skopeo) {
  return Asking(call, skopeo).run();
}

}  // namespace kiln
