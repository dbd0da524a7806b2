// What a reader says about a wrong file.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "factory/base/error.h"

namespace kiln::testing {

// The whole text of the Error(input) that `act` throws: file, line, column, message, pointer, hint.
inline std::string input_error(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input) << error.format();
    return error.format();
  }
  return "no error";
}

// A document with one mistake: the first `from` replaced by `to`. REQUIRES: `from` is in `document`.
inline std::string with_mistake(std::string document, const std::string& from, const std::string& to) {
  std::size_t at = document.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "not in the document: " << from;
    return document;
  }
  return document.replace(at, from.size(), to);
}

// Whether the JSON Schema, which editors check with, refuses a mistake too.
enum class Schema { refuses, accepts };

// One wrong document and what is said about it. `name` is letters and digits: the test's name.
struct Mistake {
  std::string name;
  std::string from;
  std::string to;
  Schema schema;
  std::string error;
};

inline std::string name_of_mistake(const ::testing::TestParamInfo<Mistake>& mistake) {
  return mistake.param.name;
}
inline void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.to; }

}  // namespace kiln::testing
