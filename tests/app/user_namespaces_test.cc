#include "factory/app/user_namespaces.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Words = std::vector<std::string>;

TEST(RootWay, IsByTheEngineForAUserWithoutRoot) {
  Site site;
  EXPECT_EQ(root_way(true, site), RootWay::has_it);
  EXPECT_EQ(root_way(false, site), RootWay::engine_namespace);
  site.engine = "apptainer";
  EXPECT_EQ(root_way(false, site), RootWay::own_namespace);
  EXPECT_EQ(root_way(true, site), RootWay::has_it);
}

TEST(StepsNeedRoot, UnlessTheyAreJobsOfSlurm) {
  Site site;
  EXPECT_TRUE(steps_need_root(site));
  EXPECT_TRUE(needs_engine_here(site));
  site.launcher.slurm.emplace();
  EXPECT_FALSE(steps_need_root(site));
  EXPECT_FALSE(needs_engine_here(site));
}

TEST(WordsAgain, AreThoseOfTheCommandWithItsProgram) {
  const std::string cmdline("kiln\0build\0-f\0\0a b\0", 19);
  EXPECT_EQ(words_again(cmdline, "/bin/kiln"), (Words{"/bin/kiln", "build", "-f", "", "a b"}))
      << "an empty word and a blank are words as well";
  EXPECT_EQ(words_again("", "/bin/kiln"), Words{"/bin/kiln"});
  EXPECT_EQ(words_again(std::string("kiln\0", 5), "/bin/kiln"), Words{"/bin/kiln"});
}

}  // namespace
}  // namespace kiln
