#include "factory/site/launcher.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Words = std::vector<std::string>;

LauncherConfig read(const std::string& text) {
  return read_launcher(JsonDocument::parse(text, "site.json").root());
}

Error error_in(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error in " << text;
  return {ExitCode::ok, ""};
}

TEST(LauncherConfig, AsksForThePartitionOfTheSiteOrAnother) {
  const LauncherConfig launcher =
      read(R"({"launcher": ["srun", "-n1", "--partition={partition}"], "partition": "build"})");
  EXPECT_EQ(launcher_words(launcher, ""), (Words{"srun", "-n1", "--partition=build"}));
  EXPECT_EQ(launcher_words(launcher, "zen4"), (Words{"srun", "-n1", "--partition=zen4"}));
}

TEST(LauncherConfig, WithoutPartitionsIsTakenAsItIs) {
  EXPECT_EQ(launcher_words(read("{}"), ""), Words{});
  EXPECT_EQ(launcher_words(read(R"({"launcher": ["srun"]})"), ""), Words{"srun"});
  for (const char* text : {"{}", R"({"launcher": ["srun"]})"}) {
    try {
      launcher_words(read(text), "zen4");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(error.hint().find("--partition={partition}"), std::string::npos);
    }
  }
}

TEST(LauncherConfig, IsRefusedWhereOneOfTheTwoIsMissing) {
  EXPECT_EQ(error_in(R"({"launcher": ["srun"], "partition": "build"})").format(),
            "site.json:1:37: error: no word of the launcher asks for a partition (at /partition); such as "
            "\"--partition={partition}\"");
  const Error nameless = error_in(R"({"launcher": ["srun", "-p", "{partition}"]})");
  EXPECT_EQ(nameless.where().pointer, "/launcher");
  EXPECT_EQ(nameless.message(), "{partition} has no name");
  EXPECT_EQ(error_in(R"({"partition": "build"})").where().pointer, "/partition");
  EXPECT_EQ(error_in(R"({"launcher": [""]})").where().pointer, "/launcher/0");
}

}  // namespace
}  // namespace kiln
