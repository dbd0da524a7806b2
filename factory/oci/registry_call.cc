#include "factory/oci/registry_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <thread>

#include "factory/base/text.h"

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

template <typename Words>
const char* find_any(const std::string& text, const Words& words) {
  for (const char* word : words)
    if (contains(text, word)) return word;
  return nullptr;
}

bool contains_any(const std::string& text, std::initializer_list<const char*> words) {
  return find_any(text, words) != nullptr;
}

// As net/http names statuses, and errors of Go's network.
constexpr std::array kBusy = {"429 Too Many Requests", "500 Internal Server Error", "502 Bad Gateway",
                              "503 Service Unavailable", "504 Gateway Timeout"};
// "invalid status code from registry 503 (Service Unavailable)"
constexpr std::array kBusyStatus = {"429 (Too Many", "500 (Internal", "502 (Bad", "503 (Service",
                                    "504 (Gateway"};
// The second line is what a registry that is being restarted, and its resolver, say; that a name is not known
// ("no such host") is not among them.
constexpr std::array kBroken = {"connection refused",   "network is unreachable",
                                "no route to host",     "Temporary failure in name resolution",
                                "server misbehaving",   "connection reset by peer",
                                "unexpected EOF",       "broken pipe",
                                "i/o timeout",          "TLS handshake timeout",
                                "connection timed out", "GOAWAY",
                                "INTERNAL_ERROR",       "server closed idle connection",
                                "toomanyrequests"};

// skopeo logs `time="…" level=fatal msg="…"`: the message alone, its quotes as they were.
std::string message_of(const std::string& line) {
  constexpr std::string_view kMark = " msg=\"";
  std::size_t start = line.find(kMark);
  if (start == std::string::npos) return line;
  std::string message;
  for (std::size_t i = start + kMark.size(); i < line.size() && line[i] != '"'; ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    message += line[i];
  }
  return message;
}

}  // namespace

// `skopeo ARGUMENTS…` in this environment, which says on stderr what it does: too_many_requests() reads it.
// $CONTAINERS_REGISTRIES_CONF, which podman reads by itself, is handed over as an option: skopeo 1.9 does not
// read it.
static Command skopeo_command(const std::vector<std::string>& arguments,
                              const std::map<std::string, std::string>& environment) {
  Command command;
  command.argv = {"skopeo", "--debug"};
  auto registries = environment.find("CONTAINERS_REGISTRIES_CONF");
  if (registries != environment.end() && !registries->second.empty())
    command.argv.insert(command.argv.end(), {"--registries-conf", registries->second});
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = environment;
  return command;
}

// What passes, by the last line of a failed skopeo: a server that is busy or failing, a connection that
// broke.
static std::optional<Setback> setback_in(const std::string& said) {
  const std::string last = message_of(last_lines(said, 1));
  if (const char* status = find_any(last, kBusy)) return Setback{status, {}};
  if (find_any(last, kBusyStatus) != nullptr || find_any(last, kBroken) != nullptr) return Setback{last, {}};
  if (last.ends_with(": EOF")) return Setback{last, {}};  // closed before an answer
  return std::nullopt;
}

std::optional<Setback> too_many_requests(std::string_view said, std::int64_t now) {
  constexpr std::string_view kHeader = "Detected 'Retry-After' header \\\"";
  if (!contains(said, "Too many requests to ")) return std::nullopt;
  Setback setback{"429 Too Many Requests", {}};
  if (std::size_t start = said.rfind(kHeader); start != std::string_view::npos) {
    start += kHeader.size();
    setback.retry_after = seconds_until(std::string(said.substr(start, said.find('\\', start) - start)), now);
  }
  return setback;
}

// Without skopeo's remarks on what it does.
static std::string without_debug(const std::string& said) {
  std::string rest;
  for (std::size_t start = 0; start < said.size();) {
    const std::size_t end = std::min(said.find('\n', start), said.size() - 1) + 1;
    const std::string_view line = std::string_view(said).substr(start, end - start);
    if (!line.starts_with("time=\"") || !contains(line, " level=debug ")) rest += line;
    start = end;
  }
  return rest;
}

void throw_registry_error(const std::string& action, const CommandResult& result) {
  std::string what = fmt::format("{}: {}", action, message_of(last_lines(result.tail, 1)));
  const std::string& said = result.tail;
  if (contains_any(said, {"no space left on device", "disk quota exceeded"}))
    throw Error(ExitCode::store, what, "the disk is full: free space, and the same command continues");
  if (contains_any(said, {"manifest unknown", "name unknown", "no such file or directory", "not found in"}))
    throw Error(ExitCode::input, what, "check the image reference");
  if (contains_any(said, {"unauthorized", "authentication required", "denied", "rejected by policy"}))
    throw Error(ExitCode::network, what, "log in with `skopeo login`, or see /etc/containers/policy.json");
  if (contains_any(said, {"server gave HTTP response to HTTPS client"}))
    throw Error(ExitCode::network, what,
                "a registry without TLS is named in registries.conf with insecure = true "
                "($CONTAINERS_REGISTRIES_CONF)");
  throw Error(ExitCode::network, what);
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
