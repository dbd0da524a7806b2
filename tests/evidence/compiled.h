// Real ELF files for tests, made by the compiler of this machine.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "factory/evidence/file_facts.h"
#include "support/temporary_folder.h"

namespace kiln::evidence::testing {

// Compiles C (or, with "-x assembler", assembly) to a file; returns its bytes.
class Compiler {
 public:
  std::string compile(const std::string& source, const std::string& flags) const {
    folder_.write("source.c", source);
    std::string command = "gcc -O2 -o '" + (folder_ / "made").string() + "' " + flags + " '" +
                          (folder_ / "source.c").string() + "' 2>'" + (folder_ / "log").string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command << '\n' << folder_.read("log");
    return folder_.read("made");
  }
  std::string shared(const std::string& source, const std::string& flags = "") const {
    return compile(source, "-shared -fPIC " + flags);
  }
  // Without symbols, as distributions ship their libraries.
  std::string stripped(const std::string& source, const std::string& flags) const {
    return shared(source, "-s " + flags);
  }

 private:
  kiln::testing::TemporaryFolder folder_;
};

inline FileFacts facts_of(const std::string& bytes) { return examine(bytes, 2); }

// How many functions use the feature in this way; 0 when none does.
inline std::uint64_t functions(const FileFacts& facts, const std::string& feature, Choice choice) {
  auto found = facts.features.find(feature);
  if (found == facts.features.end()) return 0;
  auto count = found->second.functions.find(std::string(name_of(choice)));
  return count == found->second.functions.end() ? 0 : count->second;
}

}  // namespace kiln::evidence::testing
