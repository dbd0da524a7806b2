#include "registry/select/named_query.h"

#include <gtest/gtest.h>

#include "factory/base/error.h"

namespace kiln {
namespace {

ImageQuery named(const std::string& application, const std::string& workload = "") {
  const DslReading reading =
      read_dsl(JsonDocument::parse(named_document(application, workload), "the command line"), {});
  EXPECT_TRUE(reading.notes.empty());
  return reading.query;
}

TEST(NamedQuery, AsksForTheOptimisedBuildOfAnApplication) {
  const ImageQuery query = named("PyTorch@2.6", "mnist-cnn");
  EXPECT_EQ(query.application, "pytorch");
  EXPECT_EQ(query.version.text(), "2.6");
  EXPECT_EQ(query.workload, "mnist-cnn");
  EXPECT_EQ(query.opt_build, true);
  EXPECT_TRUE(query.compilers.empty());
  EXPECT_TRUE(named("llama.cpp").version.is_any());
  EXPECT_EQ(named("llama.cpp").application, "llama.cpp");
  EXPECT_EQ(named("pytorch@>=2.6 <2.9").version.text(), ">=2.6 <2.9");
}

TEST(NamedQuery, RefusesWhatIsNoName) {
  auto refused = [](const std::string& application, const std::string& workload) {
    try {
      named_document(application, workload);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(refused("job/demo.json", ""), "expected an application, found 'job/demo.json'");
  EXPECT_EQ(refused("pytorch@", ""), "expected an application, found 'pytorch@'");
  EXPECT_EQ(refused("", ""), "expected an application, found ''");
  EXPECT_EQ(refused("pytorch", "a b"), "invalid workload name 'a b'");
}

TEST(NamedQuery, IsForTheAcceleratorsOfTheHost) {
  auto vendor = [](bool known, std::vector<std::string> accelerators) {
    Host host;
    host.known = known;
    host.description.accelerators = std::move(accelerators);
    ImageQuery query = named("pytorch");
    ask_for_accelerators_of(host, query);
    return query.acc_type;
  };
  EXPECT_EQ(vendor(true, {"nvidia:sm_90", "nvidia:sm_80"}), "nvidia");
  EXPECT_EQ(vendor(true, {"amd:gfx90a:xnack-"}), "amd");
  EXPECT_EQ(vendor(true, {"nvidia"}), "nvidia");
  EXPECT_EQ(vendor(true, {}), "");
  EXPECT_EQ(vendor(false, {}), "");
}

}  // namespace
}  // namespace kiln
