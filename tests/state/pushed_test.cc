// What this kiln has put into registries, from one run to the next.
#include "factory/state/pushed.h"

#include <gtest/gtest.h>

#include "factory/base/effects.h"
#include "support/memory_folder.h"

namespace kiln {
namespace {

using testing::MemoryFolder;

class Pushed : public ::testing::Test {
 protected:
  PushedNames read() { return PushedNames(state); }
  std::string text() { return files.read(state.pushed()).value_or(""); }

  MemoryFolder folder;
  StatePaths state{folder.path()};
  RealFileSystem files;
  const std::string image = "h/ai/hello@" + Digest::of("image").text();
  const Digest sif = Digest::of("sif"), spdx = Digest::of("spdx");
};

TEST_F(Pushed, AreThereInTheNextRun) {
  PushedNames names = read();
  names.put_image(image, {sif, "key", "1-0123456789ab", {sif, spdx}});
  names.put_tag("h/ai/hello:1", Digest::of("image"));
  PushedRecord index;
  index.is_index = true;
  names.put_image("h/ai/modak@" + Digest::of("index").text(), index);
  const PushedNames again = read();
  const auto found = again.image(image);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sif, sif);
  EXPECT_EQ(found->signed_by, "key");
  EXPECT_EQ(found->immutable_tag, "1-0123456789ab");
  EXPECT_EQ(found->referrers, (std::vector<Digest>{sif, spdx}));
  EXPECT_FALSE(found->is_index);
  EXPECT_FALSE(found->going);
  EXPECT_EQ(again.tag("h/ai/hello:1"), Digest::of("image"));
  EXPECT_TRUE(again.image("h/ai/modak@" + Digest::of("index").text())->is_index);
  EXPECT_EQ(again.images().size(), 2u);
  EXPECT_EQ(again.tags().size(), 1u);
}

TEST_F(Pushed, KnowWhenARegistryWasLookedAt) {
  PushedNames names = read();
  names.put_look("h/ai", 3, 1'800'000'000);
  names.put_look("h/ai", 3, 1'800'086'400);
  names.put_look("h/other", 0, 1);
  names.put_image(image, {sif, "", "1-0123456789ab", {}, true});
  files.write(state.pushed(), text() + R"({"registry":"h/ai","part":7,"looked":5})" + "\n" +
                                  R"({"registry":"h/ai","part":"x","looked":5})" + "\n");
  EXPECT_EQ(read().looked("h/ai"), (LookTimes{0, 0, 0, 1'800'086'400, 0, 0, 0}));
  files.write(state.pushed(), text() + "cut by a ki");  // so that it is written anew
  EXPECT_EQ(read().looked("h/ai").at(3), 1'800'086'400);
  EXPECT_EQ(read().looked("h/other").at(0), 1);
  EXPECT_EQ(read().looked("h"), LookTimes{});
  EXPECT_TRUE(read().image(image)->listed_by_tag);
}

TEST_F(Pushed, AreForgottenForGood) {
  PushedNames names = read();
  names.put_image(image, {sif, "", "1-0123456789ab", {}});
  names.put_tag("h/ai/hello:1", Digest::of("image"));
  names.forget(image);
  names.forget("h/ai/hello:1");
  EXPECT_FALSE(names.image(image));
  EXPECT_TRUE(read().images().empty());
  EXPECT_TRUE(read().tags().empty());
  names.put_image(image, {sif, "", "1-0123456789ab", {}});
  EXPECT_TRUE(read().image(image)) << "until it is put there again";
}

TEST_F(Pushed, KeepWhatIsBeingTakenAway) {
  PushedNames names = read();
  PushedRecord record{sif, "", "1-0123456789ab", {spdx}};
  record.going = true;
  names.put_image(image, record);
  EXPECT_TRUE(read().image(image)->going);
  EXPECT_EQ(read().image(image)->referrers, std::vector<Digest>{spdx});
}

TEST_F(Pushed, ReadLinesOfAnEarlierKilnAndLeaveOutWhatIsNone) {
  const std::string hex = Digest::of("x").text();
  files.write(state.pushed(), R"({"image":"h/a@)" + hex + R"(","sif":"","signed":"k"})" + "\n" +
                                  R"({"image":"h/b@)" + hex + R"(","sif":"no digest"})" + "\n" +
                                  R"({"image":"h/c@)" + hex + R"(","sif":"","with":[7,"x",null]})" + "\n" +
                                  R"({"image":"h/d@sha256:x","sif":""})" + "\n" +
                                  R"({"tag":"h/a:1","digest":""})" + "\n" + R"({"tag":"h:1","digest":")" +
                                  hex + "\"}\n[]\n{\"image\":7}\n{\"ima");
  const PushedNames names = read();
  EXPECT_EQ(names.images().size(), 2u);
  EXPECT_EQ(names.image("h/a@" + hex)->signed_by, "k");
  EXPECT_EQ(names.image("h/a@" + hex)->immutable_tag, "");
  EXPECT_TRUE(names.image("h/c@" + hex)->referrers.empty());
  EXPECT_TRUE(names.tags().empty());
  EXPECT_TRUE(text().ends_with("\n")) << "written anew";
}

TEST_F(Pushed, WriteTheFileAnewWhenMostOfItIsOld) {
  {
    PushedNames names = read();
    names.put_image(image, {sif, "", "1-0123456789ab", {spdx}});
    for (int time = 0; time < 1100; ++time) names.put_tag("h/ai/hello:1", Digest::of(std::to_string(time)));
  }
  const PushedNames names = read();
  EXPECT_EQ(names.tag("h/ai/hello:1"), Digest::of("1099"));
  EXPECT_EQ(names.image(image)->referrers, std::vector<Digest>{spdx});
  EXPECT_LT(text().size(), 2000u);
}

}  // namespace
}  // namespace kiln
