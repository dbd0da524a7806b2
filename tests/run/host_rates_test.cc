#include "factory/run/host_rates.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/unique_name.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

std::string error_of(const std::string& rates) {
  try {
    host_rates_of(Json{{"rates", Json::parse(rates)}});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::images_failed);
    return error.message();
  }
  return "";
}

TEST(HostRates, TheBestOfEachCounts) {
  const Json output = Json::parse(
      R"({"rates": {"triad": {"unit": "GB/s", "samples": [1, 3.5, 2]}, "sgemm": {"unit": "GFLOP/s", "samples": [5]}}})");
  EXPECT_EQ(host_rates_of(output), (std::map<std::string, double>{{"triad", 3.5}, {"sgemm", 5}}));
}

TEST(HostRates, NonsenseIsRefused) {
  EXPECT_THROW(host_rates_of(Json()), Error);
  EXPECT_THROW(host_rates_of(Json::object()), Error);
  EXPECT_NE(error_of("{}").find("has no rates"), std::string::npos);
  EXPECT_NE(error_of("[1]").find("has no rates"), std::string::npos);
  EXPECT_NE(error_of(R"({"warp": [1]})").find("has an unknown rate 'warp'"), std::string::npos);
  EXPECT_NE(error_of(R"({"sgemm": [1]})").find("has 'sgemm' not in GFLOP/s"), std::string::npos);
  EXPECT_NE(error_of(R"({"sgemm": {"unit": "GB/s", "samples": [1]}})").find("has 'sgemm' not in GFLOP/s"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"sgemm": {"unit": "GFLOP/s", "samples": []}})").find("has no samples of 'sgemm'"),
            std::string::npos);
  for (const char* bad : {"0", "-1", "\"2\"", "null", "[3]"})
    EXPECT_NE(error_of(R"({"sgemm": {"unit": "GFLOP/s", "samples": [3, )" + std::string(bad) + "]}}"), "")
        << bad;
}

TEST(HostRates, AreKeptForThisMachine) {
  RealFileSystem files;
  const testing::TemporaryFolder folder;
  const StatePaths state(folder.path());
  HostRecord record;
  record.host.cpu = "zen3";
  record.host.model = "EPYC";
  record.host.cores = 2;
  record.host.rates = {{"dgemm", 8.5e10}};
  record.image = "pytorch:2.6.0";
  record.key = std::string(64, 'a');
  record.file_system = "ext4";
  record.threads = 2;
  record.marks = {"under load"};
  record.taken = "2026-11-24T03:00:00Z";
  EXPECT_FALSE(known_host(state, files, record.host));
  keep_host(state, files, record);
  const auto known = known_host(state, files, record.host);
  ASSERT_TRUE(known);
  EXPECT_EQ(to_json(*known), to_json(record));

  HostDescription other = record.host;
  other.cores = 4;
  EXPECT_FALSE(known_host(state, files, other)) << "a machine of the same name";
  files.write(state.host(host_name()), "{\"host\": ");
  EXPECT_FALSE(known_host(state, files, record.host)) << "cut";
}

}  // namespace
}  // namespace kiln
