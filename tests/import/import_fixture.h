// Folders to import, written in the test itself.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "factory/import/import.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"

namespace kiln::testing {

inline ImportOptions with_compilers() {
  ImportOptions options;
  options.compilers = {"glow", "ngraph", "tensorrt", "xla"};
  return options;
}

inline Import import_files(const std::map<std::string, std::string>& files,
                           const ImportOptions& options = with_compilers()) {
  FakeFileSystem disk;
  for (const auto& [path, bytes] : files) disk.files["old/" + path] = bytes;
  return import_folder(disk, "old", options, archspec());
}

// "file:line rule" of every note.
inline std::vector<std::string> rules(const Import& import) {
  std::vector<std::string> out;
  for (const ImportNote& note : import.notes)
    out.push_back(fmt::format("{}:{} {}", note.file, note.line, note.rule));
  return out;
}

// "file:line: text" of the notes of one rule.
inline std::vector<std::string> remarks_of(const Import& import, const std::string& rule) {
  std::vector<std::string> out;
  for (const ImportNote& note : import.notes)
    if (note.rule == rule) out.push_back(fmt::format("{}:{}: {}", note.file, note.line, note.text));
  return out;
}

inline std::vector<std::string> lines(const Import& import) {
  std::vector<std::string> out;
  for (const ImportDifference& one : import.differences) out.push_back(format(one));
  return out;
}

// The files of each image, by "+".
inline std::vector<std::string> images(const Import& import) {
  std::vector<std::string> out;
  for (const ImportedImage& image : import.images)
    out.push_back(fmt::format("{}", fmt::join(image.files, "+")));
  return out;
}

inline Json recipe(const Import& import, const std::string& folder) {
  auto found = import.files.find("recipes/" + folder + "/recipe.json");
  EXPECT_NE(found, import.files.end()) << folder;
  return found == import.files.end() ? Json() : Json::parse(found->second);
}

using Words = std::vector<std::string>;

}  // namespace kiln::testing
