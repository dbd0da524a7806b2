// Fake effects for unit tests: a disk in memory, a runner that answers from a table, a clock that is set by
// hand.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "factory/base/effects.h"

namespace kiln::testing {

// Files in memory. Folders exist when something is inside them or when made.
class FakeFileSystem final : public FileSystem {
 public:
  FakeFileSystem() = default;
  explicit FakeFileSystem(std::map<std::string, std::string> content) : files(std::move(content)) {}

  void write(const fs::path& path, std::string_view bytes) override;
  bool exists(const fs::path& path) const override;
  bool is_directory(const fs::path& path) const override;
  std::vector<std::string> list(const fs::path& folder) const override;
  void make_directories(const fs::path& path) override;
  void remove_all(const fs::path& path) override;
  void rename(const fs::path& from, const fs::path& to) override;

  std::map<std::string, std::string> files;  // by path as text
  std::set<std::string> folders;             // made explicitly

 private:
  std::optional<std::string> read_bytes(const fs::path& path, std::uint64_t most) const override;
};

using CommandWords = std::vector<std::string>;

// Whether these words follow each other in the command line.
inline bool has_words(const Command& command, const CommandWords& words) {
  return std::search(command.argv.begin(), command.argv.end(), words.begin(), words.end()) !=
         command.argv.end();
}

// Records every command; answers with `respond`. Several threads may run commands, and take turns.
class FakeCommandRunner final : public CommandRunner {
 public:
  CommandResult run(const Command& command) override;
  std::optional<fs::path> find_program(std::string_view name) const override;

  std::vector<Command> commands;
  std::function<CommandResult(const Command&)> respond;  // empty: everything succeeds
  bool begins_scripts = true;                  // those of containers; false: an engine that does nothing
  std::set<std::string, std::less<>> missing;  // programs that are not installed

 private:
  std::recursive_mutex turn_;  // an answer may run another command
};

class FakeClock final : public Clock {
 public:
  std::int64_t unix_seconds() const override { return now; }
  double monotonic_seconds() const override { return static_cast<double>(now); }
  std::int64_t now = 1'700'000'000;
};

// Compares with tests/data/<name>; KILN_UPDATE_GOLDEN=1 writes it instead.
void expect_golden(const std::string& actual, const std::string& golden_file);

}  // namespace kiln::testing
