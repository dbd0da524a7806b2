// BuildahEngine in a real folder, whose programs are the fake runner's.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "factory/engine/buildah.h"
#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln::testing {

class Buildah : public ::testing::Test {
 protected:
  Buildah() {
    runner.respond = [this](const Command& command) { return answer(command); };
    setup.environment = {{"PATH", "/bin"}, {"TMPDIR", folder / "tmp"}};
  }

  CommandResult answer(const Command& command) {
    for (const auto& [words, result] : answers)
      if (has_words(command, words)) return result;
    return {};
  }
  static CommandResult fails(const std::string& tail) { return {CommandEnd::exited, 125, "", tail, 0}; }

  const Command& ran(const CommandWords& words) const {
    for (const Command& command : runner.commands)
      if (has_words(command, words)) return command;
    ADD_FAILURE() << "no command with " << words.front();
    static const Command none;
    return none;
  }
  std::size_t count(const CommandWords& words) const {
    return static_cast<std::size_t>(
        std::count_if(runner.commands.begin(), runner.commands.end(),
                      [&](const Command& command) { return has_words(command, words); }));
  }

  StepRecord parent() {
    StepRecord record;
    record.key = std::string(64, 'a');
    record.chain.layers = {{BlobStore(folder / "store").put("layer", std::string(media_type::kLayerZstd)),
                            Digest::of("tar"), "", ""}};
    return record;
  }

  TemporaryFolder folder;
  FakeCommandRunner runner;
  RealFileSystem files;
  FakeClock clock;
  std::vector<std::pair<CommandWords, CommandResult>> answers;
  EngineSetup setup{runner, files, folder / "engine", folder / "store", {}, clock};
};

}  // namespace kiln::testing
