// Collects the events of a build's running steps: from their FIFO, from their logs, and from the output of
// ninja.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "factory/run/build.h"
#include "factory/run/progress.h"

namespace kiln {

// The targets of these images' steps, tests and packaging, and the logs of the state folder. REQUIRES: the
// state of `setup` outlives it.
ProgressSource progress_source(const ImageNumbers& images, const BuildSetup& setup);

// Hears what steps say while they run, and keeps the status line alive.

// The FIFO in which steps announce their start. Made anew, and read by a separate thread.
class EventReader {
 public:
  // REQUIRES: `progress` outlives this.
  EventReader(const std::filesystem::path& fifo, Progress& progress);
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;
  ~EventReader();

 private:
  void loop();
  void tell_of_interrupt();

  Progress& progress_;
  bool told_ = false;
  int fd_ = -1;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// Steps whose process ended badly and left no record of why: what ninja prints is all that is known of them.

// Reads what ninja prints, line by line: of each edge its title, then of one that failed "FAILED: " and what
// it was to make, its command, and what it printed.
class LostSteps {
 public:
  // REQUIRES: `setup` outlives this.
  LostSteps(const BuildSetup& setup, const ImageNumbers& images);

  void read(std::string_view line);

  std::size_t count() const;

  // Records that they failed, by no fault that can be seen here, as of a launcher that got no machine.
  // Those that say themselves how they ended are left alone. Throws Error(store).
  void record() const;

 private:
  bool left_a_record(const std::string& key) const;

  const BuildSetup& setup_;
  std::map<std::string, std::string, std::less<>> edges_;  // a ninja output → key of the step or image
  std::set<std::string, std::less<>> titles_;
  std::map<std::string, std::string> failed_;  // key → the last line that it printed
  std::string now_;                            // the key that is printed about; "" = none
  bool is_command_ = false;                    // the next line is its command
};

}  // namespace kiln
