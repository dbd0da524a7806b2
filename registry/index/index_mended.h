// How Index goes on when it meets damage.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "registry/index/recovery.h"

namespace kiln {

// Opens for reading, which changes nothing.
std::unique_ptr<IndexState> open_for_reading(const std::filesystem::path& folder);

// How long a reader waits for a writer whose lock it cannot see.
inline constexpr std::chrono::seconds kUnseenWriterPatience{5};

// Detects whether a process wrote the file meanwhile: its journal exists, or it has changed.
class UnseenWriter {
 public:
  explicit UnseenWriter(std::filesystem::path folder);
  // Whether what was read may be half a commit, and it is worth while to look again, a moment later.
  bool may_be_at_work();

 private:
  std::filesystem::path folder_;
  std::filesystem::file_time_type seen_;
  std::chrono::steady_clock::time_point end_;
};

// Reads as long as a commit goes on that this machine sees no lock of: on a mount whose locks are its own,
// the file is met half written. Permanent damage is reported at once.
template <typename Action>
auto beside_unseen_writers(const std::filesystem::path& folder, const std::function<void()>& again,
                           Action action) {
  for (UnseenWriter writer(folder);;) {
    try {
      return action();
    } catch (const UnfinishedCommit&) {
      if (!writer.may_be_at_work()) throw;
    } catch (const DamagedDatabase&) {
      if (!writer.may_be_at_work()) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    again();
  }
}

template <typename Action>
auto Index::mended(Action action) const {
  if (state_->access != Database::Access::write) {
    const std::filesystem::path where = state_->folder;
    // Pages that were read half written may be kept by the connection, so there is a new one.
    return beside_unseen_writers(
        where, [&] { state_ = open_for_reading(where); }, action);
  }
  try {
    return action();
  } catch (const DamagedDatabase&) {
  }
  const std::filesystem::path folder = state_->folder;
  state_.reset();
  state_ = reconcile_or_make_again(folder);
  return action();
}

}  // namespace kiln
