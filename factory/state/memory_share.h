// The memory of a machine among the steps that run on it: a step waits until what it will need fits beside
// what the running ones need. A file for each in `<state>/memory/<host>`, locked by its process for as long
// as it lives, so that what a killed one had is free again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/os/file_lock.h"

namespace kiln {

// What one step has or waits for. Bytes.
struct Share {
  std::uint64_t number = 0;  // in the order of their coming
  std::uint64_t need = 0;
  bool is_running = false;
};

// Whether `mine` may start beside `others` in `capacity` bytes. A step alone always may. None overtakes one
// that came before it: what needs much would wait for ever.
bool may_start(const Share& mine, const std::vector<Share>& others, std::uint64_t capacity);

class MemoryShare {
 public:
  // Waits for it. `on_wait` is told why, first and whenever that changes. Throws Error(interrupted),
  // Error(store).
  MemoryShare(const fs::path& folder, std::uint64_t need, std::uint64_t capacity,
              const std::function<void(const std::string& why)>& on_wait);
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;
  ~MemoryShare();

 private:
  std::vector<Share> others() const;
  void come();
  void go() const;
  // Whether it has begun to run; else `why`.
  bool try_start(std::uint64_t capacity, std::string& why);

  fs::path folder_;
  fs::path file_;
  Share mine_;
  std::optional<FileLock> lock_;
};

}  // namespace kiln
