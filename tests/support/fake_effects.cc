#include "support/fake_effects.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace kiln::testing {

std::optional<std::string> FakeFileSystem::read_bytes(const fs::path& path, std::uint64_t) const {
  auto found = files.find(path.lexically_normal().string());
  if (found == files.end()) return std::nullopt;
  return found->second;
}

void FakeFileSystem::write(const fs::path& path, std::string_view bytes) {
  files[path.lexically_normal().string()] = std::string(bytes);
}

bool FakeFileSystem::exists(const fs::path& path) const {
  return files.contains(path.lexically_normal().string()) || is_directory(path);
}

bool FakeFileSystem::is_directory(const fs::path& path) const {
  return folders.contains(path.lexically_normal().string()) || !list(path).empty();
}

std::vector<std::string> FakeFileSystem::list(const fs::path& folder) const {
  std::string prefix = folder.lexically_normal().string();
  if (!prefix.ends_with('/')) prefix += '/';
  std::set<std::string> names;
  auto note = [&](const std::string& path) {
    if (path.starts_with(prefix))
      names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
  };
  for (const auto& [path, bytes] : files) note(path);
  for (const auto& path : folders) note(path);
  return {names.begin(), names.end()};
}

void FakeFileSystem::make_directories(const fs::path& path) {
  folders.insert(path.lexically_normal().string());
}

void FakeFileSystem::remove_all(const fs::path& path) {
  std::string name = path.lexically_normal().string();
  auto inside = [&](const std::string& other) { return other == name || other.starts_with(name + "/"); };
  std::erase_if(files, [&](const auto& file) { return inside(file.first); });
  std::erase_if(folders, inside);
}

void FakeFileSystem::rename(const fs::path& from, const fs::path& to) {
  files[to.lexically_normal().string()] = files.at(from.lexically_normal().string());
  files.erase(from.lexically_normal().string());
}

namespace {

// What a script's shell does first: it says through a pipe that it runs (engine/container_script.h).
void begin_script(const Command& command) {
  constexpr std::string_view kSource = "type=bind,source=";
  for (const std::string& word : command.argv) {
    if (const std::size_t at = word.find(":/run/kiln/begun:"); at != std::string::npos)
      std::ofstream(word.substr(0, at)) << '\n';
    if (const std::size_t at = word.find(",destination=/run/kiln/begun,"); at != std::string::npos)
      std::ofstream(word.substr(kSource.size(), at - kSource.size())) << '\n';
  }
}

}  // namespace

CommandResult FakeCommandRunner::run(const Command& command) {
  const std::lock_guard turn(turn_);
  commands.push_back(command);
  if (begins_scripts) begin_script(command);
  if (missing.contains(command.argv.at(0)))
    throw Error(ExitCode::tool_missing, command.argv[0] + " is not installed");
  CommandResult result = respond ? respond(command) : CommandResult{};
  if (command.on_line) {
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) command.on_line(line);
  }
  return result;
}

std::optional<fs::path> FakeCommandRunner::find_program(std::string_view name) const {
  if (missing.contains(name)) return std::nullopt;
  return fs::path("/usr/bin") / name;
}

void expect_golden(const std::string& actual, const std::string& golden_file) {
  if (std::getenv("KILN_UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(fs::path(golden_file).parent_path());
    std::ofstream(golden_file, std::ios::binary) << actual;
    return;
  }
  std::ifstream in(golden_file, std::ios::binary);
  ASSERT_TRUE(in) << golden_file << " is missing: run with KILN_UPDATE_GOLDEN=1";
  std::ostringstream expected;
  expected << in.rdbuf();
  EXPECT_EQ(actual, expected.str()) << golden_file;
}

}  // namespace kiln::testing
