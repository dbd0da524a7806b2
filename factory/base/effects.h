// The three doors to the outside: files, processes, time. Everything else in kiln is values in, values out.
// Real versions are in effects.cc, process.cc; tests use the ones of tests/support/fake_effects.h.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/error.h"

namespace kiln {

namespace fs = std::filesystem;

// Bytes of a file that is read whole, where its reader knows no lower limit. Documents have 4 MiB
// (JsonLimits).
inline constexpr std::uint64_t kMostFile = 256u << 20;

// Files. Errors are Error(store) that name the path and the system's reason; "not found" on read is nullopt.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // nullopt when absent. Throws Error(input) for anything but a file and for one over `most` bytes, before it
  // is read (read_whole.h).
  std::optional<std::string> read(const fs::path& path, std::uint64_t most = kMostFile) const {
    return read_bytes(path, most);
  }
  // Writes the whole file or nothing: temporary file in the same folder, fsync, rename, fsync of the folder.
  // Makes parent folders.
  virtual void write(const fs::path& path, std::string_view bytes) = 0;
  // The same without waiting for the disk: for output that can be made again at any time.
  virtual void write_output(const fs::path& path, std::string_view bytes) { write(path, bytes); }
  virtual bool exists(const fs::path& path) const = 0;
  virtual bool is_directory(const fs::path& path) const = 0;
  virtual std::vector<std::string> list(
      const fs::path& folder) const = 0;  // names, sorted; empty when absent
  // The names there that end with `ending`, without it.
  std::vector<std::string> stems(const fs::path& folder, std::string_view ending = ".json") const;
  virtual void make_directories(const fs::path& path) = 0;
  virtual void remove_all(const fs::path& path) = 0;  // absent is fine
  virtual void rename(const fs::path& from, const fs::path& to) = 0;

 private:
  virtual std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t most) const = 0;
};

// Limits of one command. Zero means no limit.
struct CommandLimits {
  std::chrono::seconds wall{0};     // killed with its whole process group after this
  std::chrono::seconds silence{0};  // killed when it has printed nothing for this long
  std::uint64_t log_bytes = 0;      // killed when it has printed more than this
  std::uint64_t memory = 0;  // bytes; killed when it has more, with all that it started (own_processes)
};

struct Command {
  std::vector<std::string> argv;                   // argv[0] is looked up in PATH
  std::map<std::string, std::string> environment;  // the whole environment of the child, nothing is inherited
  fs::path folder;                                 // working folder, "" = ours
  fs::path log;                                    // stdout and stderr are appended here; "" = captured only
  bool capture_stdout = false;                     // stdout goes to CommandResult::output instead of the log
  CommandLimits limits;
  // It sees only the processes that it starts, and none of them outlives it or kiln; their memory is watched
  // together (memory_watch.h). Where the kernel grants no PID namespace the log says so, and it shares the
  // machine's.
  bool own_processes = false;
  // The umask of the child; nullopt: ours, which says which users may read kiln's own files and nothing of an
  // image's.
  std::optional<unsigned> file_mask;
  // For clean-up: it runs although kiln was told to stop, and gets its full time.
  bool despite_interrupt = false;
  // Between the request to end (SIGTERM) and SIGKILL, at a limit or when kiln is told to stop. Zero: kiln
  // waits until it is told again.
  std::chrono::seconds grace{10};                 // Slurm's KillWait is 30
  std::function<void(std::string_view)> on_line;  // each line of stdout as it comes (ninja's), may be empty
  // Asked ten times a second while it runs, with the end of its output as in CommandResult::tail: whether it
  // is ended, as at a limit. May be empty.
  std::function<bool(std::string_view tail)> give_up = {};
  std::vector<std::string> hidden = {};  // *** replaces them in all kept output
  // Two non-blocking pipes that kiln reads in addition to stdout and stderr, because a program in between may
  // not pass on all output. -1: no pipe. The caller closes them.
  std::array<int, 2> more_output = {-1, -1};
  bool interactive = false;  // has kiln's input, output and terminal: no log, no capture, no limits
  // kiln can make its output again after a power cut, so neither it nor its children wait for the disk
  // (ignored_calls.h).
  bool unsynced = false;
};

// out_of_memory: it exceeded its limit, or the kernel killed a process of it because memory ran out; never a
// guess from its output.
enum class CommandEnd {
  exited,
  signalled,
  wall_limit,
  silence_limit,
  log_limit,
  given_up,
  interrupted,
  out_of_memory
};

// Source of the figures for a command's memory.
enum class MemorySource { none, processes, cgroup1, cgroup2 };

// Peak of the memory of a command and all of its children together. Bytes.
struct MemoryUse {
  std::uint64_t peak = 0;  // without the system's cache of files, which is dropped when memory is needed
  std::uint64_t with_files = 0;  // the cgroup's own peak, with that; 0 where there is no cgroup
  MemorySource source = MemorySource::none;
};

struct CommandResult {
  CommandEnd end = CommandEnd::exited;
  int status = 0;      // exit status, or the signal's number
  std::string output;  // captured stdout
  std::string tail;    // the last 16 KiB of stdout and stderr together
  double seconds = 0;
  MemoryUse memory = {};  // of commands with own_processes
  bool ok() const { return end == CommandEnd::exited && status == 0; }
};

// Processes. The child gets its own process group, no inherited descriptors beyond 0-2, and is killed as a
// tree. An interactive one is killed when this process is told to end, and not by typed keys.
class CommandRunner {
 public:
  virtual ~CommandRunner() = default;
  // Throws Error(tool_missing) when argv[0] is not found; any other ending is in the result.
  virtual CommandResult run(const Command& command) = 0;
  virtual std::optional<fs::path> find_program(std::string_view name) const = 0;

  // Runs what answers on stdout. `most`: how long it may take; 0: no limit. Throws as `run`.
  CommandResult ask(std::vector<std::string> argv, std::map<std::string, std::string> environment,
                    std::chrono::seconds most = std::chrono::seconds(0));
  // Its answer; nullopt: there is no such program, it failed, or took longer. Throws Error(interrupted).
  std::optional<std::string> answer(std::vector<std::string> argv,
                                    std::map<std::string, std::string> environment,
                                    std::chrono::seconds most);
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t unix_seconds() const = 0;  // UTC
  virtual double monotonic_seconds() const = 0;
};

class RealFileSystem final : public FileSystem {
 public:
  void write(const fs::path& path, std::string_view bytes) override;
  void write_output(const fs::path& path, std::string_view bytes) override;
  bool exists(const fs::path& path) const override;
  bool is_directory(const fs::path& path) const override;
  std::vector<std::string> list(const fs::path& folder) const override;
  void make_directories(const fs::path& path) override;
  void remove_all(const fs::path& path) override;
  void rename(const fs::path& from, const fs::path& to) override;

 private:
  std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t most) const override;
};

class RealCommandRunner final : public CommandRunner {
 public:
  CommandResult run(const Command& command) override;
  std::optional<fs::path> find_program(std::string_view name) const override;
};

class RealClock final : public Clock {
 public:
  std::int64_t unix_seconds() const override;
  double monotonic_seconds() const override;
};

// `2026-11-20T10:00:00Z` (RFC 3339, UTC).
std::string rfc3339(std::int64_t unix_seconds);

// Set by SIGINT/SIGTERM/SIGHUP after install_interrupt_handler(); runners kill their child and report
// `interrupted`.
void install_interrupt_handler();
bool interrupted();
// A second SIGINT, a second or more after the first signal: a person does not want to wait any longer.
bool interrupted_again();

// Seconds since 1970 (UTC) of "2026-11-23T10:00:00Z"; nullopt for another form.
std::optional<std::int64_t> unix_seconds_of(const std::string& date);

// Files in memory, read-only: what is about to be written is read back first.
class MemoryFiles final : public FileSystem {
 public:
  // By path as text. REQUIRES: outlives this.
  explicit MemoryFiles(const std::map<std::string, std::string>& files) : files_(files) {}

  bool exists(const fs::path& path) const override {
    return files_.contains(path.string()) || is_directory(path);
  }
  bool is_directory(const fs::path& path) const override;
  std::vector<std::string> list(const fs::path& folder) const override;
  // Throw Error(store).
  void write(const fs::path& path, std::string_view) override { refuse(path); }
  void make_directories(const fs::path& path) override { refuse(path); }
  void remove_all(const fs::path& path) override { refuse(path); }
  void rename(const fs::path& from, const fs::path&) override { refuse(from); }

 private:
  std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t most) const override;
  [[noreturn]] static void refuse(const fs::path& path);
  const std::map<std::string, std::string>& files_;
};

// A name that no other process makes, for containers, and for files and folders that are made aside:
// `<process id>-<8 hex digits, the kernel's>`.
std::string unique_name();

// This machine's, as gethostname(2) says it; "localhost" when it has none.
std::string host_name();

}  // namespace kiln
