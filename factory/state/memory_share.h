// The memory of a machine among the steps that run on it: a step waits until its expected need fits next to
// the needs of the running steps. Each step has a file in `<state>/memory/<host>`, which its process locks
// while it lives, so that the share of a killed step is free again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/os/file_lock.h"

namespace kiln {

// The share that one step has or waits for. Bytes.
struct Share {
  std::uint64_t number = 0;  // in the order of their coming
  std::uint64_t need = 0;
  bool is_running = false;
};

// Whether `mine` may start in addition to `others` in `capacity` bytes. A step alone always may. No step
// overtakes an earlier one; otherwise a step that needs much memory would wait for ever.
bool may_start(const Share& mine, const std::vector<Share>& others, std::uint64_t capacity);

class MemoryShare {
 public:
  // Waits for it. `on_wait` gets the reason, first and at each change. Throws Error(interrupted),
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
