// What the tests of the parsers say about trees, in short.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "factory/source/definition_file.h"
#include "factory/source/dockerfile.h"
#include "support/input_errors.h"

namespace kiln::testing {

inline std::string at(Position place) { return fmt::format("{}:{}", place.line, place.column); }

inline std::vector<std::string> texts(const std::vector<DockerWord>& words) {
  std::vector<std::string> out;
  for (const DockerWord& word : words) out.push_back(word.text);
  return out;
}

// "NAME=value", or "NAME" without a value.
inline std::vector<std::string> texts(const std::vector<DockerPair>& pairs) {
  std::vector<std::string> out;
  for (const DockerPair& pair : pairs)
    out.push_back(pair.has_value ? pair.name + "=" + pair.value : pair.name);
  return out;
}

// The one instruction below `FROM x`.
inline DockerInstruction instruction(const std::string& text) {
  Dockerfile dockerfile = parse_dockerfile("FROM x\n" + text, "Dockerfile");
  EXPECT_EQ(dockerfile.stages.size(), 1u);
  EXPECT_EQ(dockerfile.stages[0].instructions.size(), 1u) << text;
  return dockerfile.stages[0].instructions.at(0);
}

inline std::string docker_error(const std::string& text) {
  return input_error([&] { parse_dockerfile(text, "Dockerfile"); });
}

inline std::string definition_error(const std::string& text) {
  return input_error([&] { parse_definition(text, "x.def"); });
}

}  // namespace kiln::testing
