// Hears what steps say while they run, and keeps the status line alive.
#pragma once

#include <atomic>
#include <filesystem>
#include <thread>

#include "factory/run/progress.h"

namespace kiln {

// The FIFO that steps announce their start in. Made anew, and read by a thread of its own.
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

}  // namespace kiln
