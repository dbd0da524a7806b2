#include "factory/state/state_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "factory/record/image_blobs.h"
#include "support/built_image.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

TEST(NameSet, HoldsItsNamesAndNoOthers) {
  NameSet names({"a", "ab", "b", "ccc"});
  for (const char* name : {"a", "ab", "b", "ccc"}) EXPECT_TRUE(names.contains(name));
  for (const char* name : {"", "aa", "bb", "c", "cccc", "d"}) EXPECT_FALSE(names.contains(name));
  EXPECT_FALSE(NameSet().contains(""));
}

// Names with much and with nothing in common, one the beginning of the next, the longest that a file can
// have.
TEST(NameSet, TellsNamesApartThatShareTheirBeginnings) {
  std::set<std::string> all{"", std::string(255, 'x'), std::string(254, 'x')};
  for (int number = 0; number < 500; ++number) {
    all.insert(fmt::format("2.6-pip-x86_64_v3-{:x}", number * 7919));
    all.insert(std::string(static_cast<std::size_t>(number % 40), 'a'));
    all.insert(fmt::format("\xff{}", number % 33));
  }
  const NameSet names(std::vector<std::string>(all.begin(), all.end()));
  for (const std::string& name : all) {
    EXPECT_TRUE(names.contains(name)) << name;
    for (const std::string& other : {name + "!", name + "~", name.substr(0, name.size() / 2), "0" + name})
      EXPECT_EQ(names.contains(other), all.contains(other)) << other;
  }
}

class StateNamesOf : public ::testing::Test {
 protected:
  testing::ImageNames names_of(const std::string& record) {
    return {record, "pytorch", "2.6", "2.6-" + record, std::string(64, 'a')};
  }
  bool is_packaged(const std::string& record) {
    return StateNames(state, files).is_packaged(record, "pytorch", "2.6-" + record);
  }
  // A step with a layer of its own upon one of a step below.
  StepRecord add_step(const std::string& key) {
    StepRecord record;
    record.key = key;
    for (const std::string& step : {std::string("below"), key})
      record.chain.layers.push_back({store.put("layer of " + step, std::string(media_type::kLayerZstd)),
                                     Digest::of("tar of " + step), step, step});
    RecordWriter(state, files).write(record);
    return record;
  }

  testing::TemporaryFolder folder;
  StatePaths state{folder / "state"};
  BlobStore store{state.store()};
  RealFileSystem files;
};

TEST_F(StateNamesOf, TestsAndFailuresAreKnownByTheirRecords) {
  const std::string passed(64, '2');
  const std::string failed = std::string(63, '2') + "3";  // and like it at the beginning
  const std::string other = "3" + std::string(63, '2');
  const std::string cut(64, '4');
  const std::string foreign(64, '5');
  RecordWriter(state, files).write(TestRecord{passed, 1, "proved"});
  const std::string text = *files.read(state.test(passed));
  files.write(state.test(cut), text.substr(0, text.size() / 2));
  files.write(state.test(foreign), text);
  files.write(state.failure(failed), "");
  for (bool ahead : {false, true}) {
    StateNames names(state, files);
    if (ahead) names.look_ahead();
    EXPECT_TRUE(names.has_test(passed));
    EXPECT_FALSE(names.has_test(cut));
    EXPECT_FALSE(names.has_test(foreign));
    EXPECT_FALSE(names.has_test(other));
    EXPECT_TRUE(names.has_failure(failed));
    EXPECT_FALSE(names.has_failure(passed));
    names.keep(files);
  }
  files.write(state.test(passed), "");  // damaged since it was kept
  EXPECT_FALSE(StateNames(state, files).has_test(passed));
}

TEST_F(StateNamesOf, AnImageIsPackagedWhenRecordAndLayoutAreThere) {
  for (const char* record : {"k-1", "k-2"}) testing::make_built(names_of(record), state, files);
  EXPECT_TRUE(is_packaged("k-1"));
  EXPECT_TRUE(is_packaged("k-2"));
  EXPECT_FALSE(is_packaged("k-3")) << "no record";
  fs::remove_all(state.layout("pytorch", "2.6-k-1"));
  EXPECT_FALSE(is_packaged("k-1")) << "no layout";
  fs::remove(state.built("k-2"));
  EXPECT_FALSE(is_packaged("k-2")) << "no record";
}

TEST_F(StateNamesOf, AnImageIsPackagedWhenEachBlobIsThereWithItsSize) {
  const ImageRecord image = testing::make_built(names_of("k"), state, files);
  const std::vector<ImageBlob> blobs = blobs_of(image, store);
  EXPECT_EQ(blobs.size(), 9u);
  for (bool kept : {false, true}) {  // from the record, and from what an earlier run kept
    if (kept) StateNames(state, files).keep(files);
    for (const ImageBlob& blob : blobs) {
      const std::string bytes = *files.read(store.path(blob.digest));
      for (std::size_t size : {bytes.size() - 1, bytes.size() + 1, std::size_t{0}}) {
        fs::resize_file(store.path(blob.digest), size);
        EXPECT_FALSE(is_packaged("k")) << blob.what << " has " << size << " bytes";
      }
      fs::remove(store.path(blob.digest));
      EXPECT_FALSE(is_packaged("k")) << blob.what << " is gone";
      files.write(store.path(blob.digest), bytes);
      EXPECT_TRUE(is_packaged("k"));
    }
  }
}

TEST_F(StateNamesOf, AnImageWhoseRecordSaysNothingIsNotPackaged) {
  for (const char* text : {"", "{", "{}", R"({"manifest": "sha256:zz"})"}) {
    files.write(state.built("k"), text);
    files.make_directories(state.layout("pytorch", "2.6-k"));
    EXPECT_FALSE(is_packaged("k")) << text;
  }
}

TEST_F(StateNamesOf, AStepIsDoneWhileItsOwnLayersAreThere) {
  StepRecord step = add_step("k");
  auto has = [&] { return StateNames(state, files).has_step("k"); };
  EXPECT_TRUE(has());
  EXPECT_FALSE(StateNames(state, files).has_step("other"));
  fs::remove(store.path(step.chain.layers[0].blob.digest));
  EXPECT_TRUE(has()) << "that one is promised by the step below";
  fs::resize_file(store.path(step.chain.layers[1].blob.digest), 3);
  EXPECT_FALSE(has());
  files.write(state.step("k"), "{");
  EXPECT_FALSE(has());
}

TEST_F(StateNamesOf, AnEmptyFolderHasNothing) {
  StatePaths nowhere(folder / "nowhere");
  EXPECT_FALSE(StateNames(nowhere, files).is_packaged("k", "pytorch", "t"));
  EXPECT_FALSE(StateNames(nowhere, files).has_step("k"));
  StateNames(nowhere, files).keep(files);
  EXPECT_FALSE(files.exists(nowhere.root())) << "and nothing is made of it";
}

}  // namespace
}  // namespace kiln
