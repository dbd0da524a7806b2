#include "factory/run/kept_files.h"

#include <gtest/gtest.h>

#include "factory/bench/published_tables.h"
#include "support/fake_effects.h"

namespace kiln::testing {
namespace {

TEST(KeptFiles, TellsWhatCannotBeRead) {
  FakeFileSystem files;
  const StatePaths state("state");
  KeptTables(state, files)
      .put(timm_table(
          "model,img_size,samples_per_sec,step_time,batch_size,param_count\nresnet50,224,100,100,10,25\n",
          "benchmark-infer-fp32-nchw-pt240-cpu-x-dynamo.csv", {{"host", "a"}}));
  EXPECT_TRUE(kept_damage(state, files).empty());
  files.write(state.tuned_folder() / ".0123.json.tmp", "half");  // kiln is writing it
  files.write(state.tuned("0123"), "{}");
  files.write(state.plan("demo"), "{");
  for (auto& [name, text] : files.files)
    if (const auto at = text.find("resnet50"); at != text.npos) text.replace(at, 8, "resnet51");
  const std::vector<Error> found = kept_damage(state, files);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NE(found[0].format().find("the plan is damaged: it is cut off"), std::string::npos);
  EXPECT_NE(found[1].format().find("a result is damaged"), std::string::npos);
  EXPECT_NE(found[2].format().find("a kept table is not what was written"), std::string::npos);
}

}  // namespace
}  // namespace kiln::testing
