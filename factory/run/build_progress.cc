#include "factory/run/build_progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "factory/base/read_whole.h"
#include "factory/base/text.h"
#include "factory/run/failure.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

// "zen3", or "zen3 and 2 more": the targets of the images that need each step, test and packaging.
std::map<std::string, std::string> targets_of(const ImageNumbers& images, const BuildSetup& setup) {
  std::map<std::string, std::set<std::string>> names;
  for (std::uint32_t number : images) {
    const ResolvedImage image = setup.plan.image(number);
    const std::string& target = image.target().name;
    for (StepTable::Number step : image.steps()) names[setup.plan.steps().hex(step)].insert(target);
    for (StepTable::Number test : image.tests()) names[setup.plan.steps().hex(test)].insert(target);
    names[image.key()].insert(target);
  }
  std::map<std::string, std::string> targets;
  for (const auto& [key, all] : names)
    targets[key] = *all.begin() + (all.size() > 1 ? fmt::format(" and {} more", all.size() - 1) : "");
  return targets;
}

constexpr std::string_view kFailed = "FAILED: ";
constexpr std::size_t kLongest = 160;  // bytes of what it printed

}  // namespace

ProgressSource progress_source(const ImageNumbers& images, const BuildSetup& setup) {
  constexpr std::uint64_t kEndOfLog = 4096;
  // What the file system does not give now is a line less to show.
  auto last_line = [&state = setup.state](const std::string& key) {
    return unless_error([&] { return last_line_of(read_end(state.log(key), kEndOfLog)); });
  };
  return {targets_of(images, setup), last_line};
}

EventReader::EventReader(const std::filesystem::path& fifo, Progress& progress) : progress_(progress) {
  ::unlink(fifo.c_str());
  if (::mkfifo(fifo.c_str(), 0600) == 0) fd_ = ::open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  thread_ = std::thread([this] { loop(); });
}

EventReader::~EventReader() {
  stop_ = true;
  thread_.join();
  if (fd_ >= 0) ::close(fd_);
}

void EventReader::loop() {
  std::string pending;
  while (!stop_) {
    pollfd poll_fd{fd_, POLLIN, 0};
    ::poll(&poll_fd, 1, 100);
    char buffer[4096];
    ssize_t got = fd_ >= 0 ? ::read(fd_, buffer, sizeof buffer) : 0;
    if (got > 0) pending.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1))
      if (auto event = step_event_from_line(std::string_view(pending).substr(0, end)))
        progress_.event(*event);
    tell_of_interrupt();
    progress_.tick();
  }
}

void EventReader::tell_of_interrupt() {
  if (told_ || !interrupted()) return;
  told_ = true;
  progress_.note("interrupted: waiting until the running steps have cleaned up (again: no longer)");
}

LostSteps::LostSteps(const BuildSetup& setup, const ImageNumbers& images) : setup_(setup) {
  auto add = [&](const char* folder, StepTable::Number step) {
    const std::string key = setup.plan.steps().hex(step);
    edges_.emplace(folder + key + ".json", key);
    titles_.insert(setup.plan.steps().pattern(step).title);
  };
  for (std::uint32_t number : images) {
    const ResolvedImage image = setup.plan.image(number);
    for (StepTable::Number step : image.steps()) add("steps/", step);
    for (StepTable::Number test : image.tests()) add("tests/", test);
    edges_.emplace("built/" + image.record_name() + ".json", image.key());
    titles_.insert("image " + image.reference());
  }
}

// What follows the command is its own output, until the title of another edge.
void LostSteps::read(std::string_view line) {
  if (line.starts_with(kFailed)) {
    std::string_view made = trimmed(line.substr(kFailed.size()));
    if (made.starts_with('[')) made.remove_prefix(std::min(made.size(), made.find("] ") + 2));  // "[code=1] "
    auto edge = edges_.find(made);
    now_ = edge == edges_.end() ? "" : edge->second;
    is_command_ = true;
    if (!now_.empty()) failed_.emplace(now_, "");
  } else if (line.starts_with("ninja: ") || titles_.contains(line)) {
    now_.clear();
  } else if (!now_.empty() && !std::exchange(is_command_, false) && !trimmed(line).empty()) {
    failed_[now_] = without_controls(line.substr(0, kLongest));
  }
}

bool LostSteps::left_a_record(const std::string& key) const {
  const RecordReader reader(setup_.state, setup_.files);
  return reader.step(key) || reader.test(key) || reader.failure(key);
}

std::size_t LostSteps::count() const {
  return static_cast<std::size_t>(std::count_if(
      failed_.begin(), failed_.end(), [&](const auto& failed) { return !left_a_record(failed.first); }));
}

void LostSteps::record() const {
  for (const auto& [key, said] : failed_) {
    if (left_a_record(key)) continue;
    const Error error(ExitCode::images_failed,
                      "its process ended without a record" + (said.empty() ? "" : ": " + said),
                      "the launcher of the site file, or kiln itself: it is in the output of ninja");
    FailureRecord failure = failure_record(key, error, 0, setup_.state.log(key));
    failure.failure = FailureClass::infrastructure;
    RecordWriter(setup_.state, setup_.files).write(failure);
  }
}

}  // namespace kiln
