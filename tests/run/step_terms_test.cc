#include "factory/run/step_terms.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/fake_effects.h"

namespace kiln {
namespace {

TEST(StepTerms, AreReadAsTheyWereWritten) {
  const StepTerms terms{"run-1",          true,     1'795'660'000, false, 3,
                        "/etc/kiln.json", "podman", "/mirror",     true,  true};
  testing::FakeFileSystem files;
  files.files["terms.json"] = to_json(terms).dump();
  EXPECT_EQ(read_step_terms(files, "terms.json"), terms);
  files.files["terms.json"] = to_json(StepTerms{}).dump();
  EXPECT_EQ(read_step_terms(files, "terms.json"), StepTerms{});
}

TEST(StepTerms, SayWhatTheSiteInUseSays) {
  Site site;
  EXPECT_EQ(terms_of(site).engine, site.engine);
  EXPECT_TRUE(terms_of(site).of_ninja);
  EXPECT_EQ(terms_of(site).site, "") << "there is no site file";
  site.file = "/etc/kiln.json";
  site.launcher.words = {"srun"};
  site.cache.use = false;
  site.offline = true;
  site.mirror = "/mirror";
  const StepTerms terms = terms_of(site);
  EXPECT_EQ(terms.site, "/etc/kiln.json");
  EXPECT_FALSE(terms.of_ninja);
  EXPECT_TRUE(terms.no_cache);
  EXPECT_TRUE(terms.offline);
  EXPECT_EQ(terms.mirror, "/mirror");
}

TEST(StepTerms, WithoutTheirFileThereAreNone) {
  testing::FakeFileSystem files;
  EXPECT_THROW(read_step_terms(files, "terms.json"), Error);
  files.files["terms.json"] = R"({"run": ""})";
  EXPECT_THROW(read_step_terms(files, "terms.json"), Error);
}

}  // namespace
}  // namespace kiln
