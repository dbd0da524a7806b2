// What a build says of its images, and its exit code.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/run/build.h"

namespace kiln {
namespace {

ImageOutcome failed(ExitCode cause) {
  ImageOutcome outcome;
  outcome.outcome = Outcome::failed;
  outcome.cause = cause;
  return outcome;
}

ImageOutcome ended(Outcome end) {
  ImageOutcome outcome;
  outcome.outcome = end;
  return outcome;
}

TEST(BuildReport, TheExitCodeNamesTheOneCause) {
  BuildReport report;
  EXPECT_EQ(report.exit_code(), ExitCode::ok);
  report.images = {ended(Outcome::built), ended(Outcome::up_to_date)};
  EXPECT_EQ(report.exit_code(), ExitCode::ok);
  report.images.push_back(failed(ExitCode::network));
  EXPECT_EQ(report.exit_code(), ExitCode::network);
  report.images.push_back(failed(ExitCode::network));
  EXPECT_EQ(report.exit_code(), ExitCode::network);
  report.images.push_back(failed(ExitCode::images_failed));
  EXPECT_EQ(report.exit_code(), ExitCode::images_failed) << "two causes";
  report.interrupted = true;
  EXPECT_EQ(report.exit_code(), ExitCode::interrupted);
}

TEST(BuildReport, WhatWasNotReachedIsAFailure) {
  BuildReport report;
  report.images = {ended(Outcome::built), ended(Outcome::not_reached)};
  EXPECT_EQ(report.exit_code(), ExitCode::images_failed);
}

TEST(BuildReport, JsonCountsVerdicts) {
  BuildReport report;
  report.images = {ended(Outcome::built), failed(ExitCode::store), ended(Outcome::up_to_date)};
  report.images[1].reason = "busybox 1.35: the disk is full";
  Json json = to_json(report);
  EXPECT_EQ(json["built"], 1);
  EXPECT_EQ(json["up_to_date"], 1);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["images"][1]["reason"], "busybox 1.35: the disk is full");
  EXPECT_EQ(json["images"][0]["verdict"], "built");
}

TEST(BuildReport, JsonSaysWhichImageItSpeaksOf) {
  BuildReport report;
  ImageOutcome image = failed(ExitCode::images_failed);
  image.id = "pytorch@2.6.0";
  image.name = "pytorch:2.6.0-distro";
  image.key = "0123";
  image.log = "/var/kiln/logs/0123.log";
  report.images = {image, ended(Outcome::skipped), ended(Outcome::not_reached)};
  report.steps_run = 3;
  report.seconds = 1.5;
  const Json expected = {{"images",
                          {{{"id", "pytorch@2.6.0"},
                            {"name", "pytorch:2.6.0-distro"},
                            {"key", "0123"},
                            {"verdict", "failed"},
                            {"log", "/var/kiln/logs/0123.log"}},
                           {{"id", ""}, {"name", ""}, {"key", ""}, {"verdict", "skipped"}},
                           {{"id", ""}, {"name", ""}, {"key", ""}, {"verdict", "not reached"}}}},
                         {"built", 0},
                         {"up_to_date", 0},
                         {"failed", 2},
                         {"skipped", 1},
                         {"steps_fetched", 0},
                         {"steps_run", 3},
                         {"steps_fetched", 0},
                         {"seconds", 1.5}};
  EXPECT_EQ(to_json(report), expected);
}

}  // namespace
}  // namespace kiln
