// The memory of one command in a separate control group (cgroups(7)): its use, its limit, and whether the
// kernel's OOM killer ended a process of it. Version 2 if kiln's own group is delegated to it, else version 1
// if kiln may make groups, which requires root.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "factory/base/file_handle.h"

namespace kiln {

// Where groups for commands can be made.
struct CgroupPath {
  int version = 1;
  std::filesystem::path folder;
  bool is_ready = true;  // version 2: groups below it count memory by now
};

// `own`: /proc/self/cgroup; `root`: where groups are mounted, /sys/fs/cgroup; `process`: ours, which must be
// in the place, or it is another's. nullopt if kiln may not make one that counts memory. Changes nothing.
std::optional<CgroupPath> find_cgroup_path(std::string_view own, const std::filesystem::path& root,
                                           pid_t process);
// Of this process.
std::optional<CgroupPath> find_cgroup_path();

// Makes groups below a place of version 2 count memory. A group that contains processes may not do this, so
// kiln moves all of them into the group `kiln` below it, as delegation intends. False when that fails.
bool make_ready(const CgroupPath& place);

class MemoryCgroup {
 public:
  // A new group below `place` with a limit in bytes (0: none); nullopt when the system refuses. Removes the
  // remains of killed processes there. REQUIRES: the place is ready.
  static std::optional<MemoryCgroup> make(const CgroupPath& place, std::uint64_t limit);
  MemoryCgroup(MemoryCgroup&& other) noexcept;
  MemoryCgroup& operator=(MemoryCgroup&&) = delete;
  ~MemoryCgroup();  // removes it; with processes in it, it stays for a later make()

  int version() const { return version_; }
  // A descriptor: a process that writes "0" to it joins the group, with its later children. May be used after
  // fork(2).
  int entrance() const { return entrance_; }
  bool has_processes() const;
  std::uint64_t memory() const;  // bytes of its processes and of shared memory, now
  std::uint64_t peak() const;  // bytes, files that the system keeps included; 0 where the kernel does not say
  std::uint64_t kills() const;  // of the OOM killer, by whatever limit

 private:
  MemoryCgroup(std::filesystem::path folder, int version) : folder_(std::move(folder)), version_(version) {}
  bool begin(std::uint64_t limit);

  std::filesystem::path folder_;
  int version_;
  FileHandle lock_;  // on the folder: it is no dead process's
  FileHandle entrance_;
};

}  // namespace kiln
