#include "image/state/state_names.h"

#include <gtest/gtest.h>

#include "support/fake_effects.h"

namespace kiln {
namespace {

using testing::FakeFileSystem;

TEST(NameSet, HoldsItsNamesAndNoOthers) {
  NameSet names({"a", "ab", "b", "ccc"});
  for (const char* name : {"a", "ab", "b", "ccc"}) EXPECT_TRUE(names.contains(name));
  for (const char* name : {"", "aa", "bb", "c", "cccc", "d"}) EXPECT_FALSE(names.contains(name));
  EXPECT_FALSE(NameSet().contains(""));
}

TEST(StateNames, KnowsWhatThereIsOfEachKind) {
  FakeFileSystem files({{"/s/steps/k1.json", ""}, {"/s/tests/k2.json", ""}, {"/s/failed/k3.json", ""}});
  StatePaths state("/s");
  StateNames names(state, files);
  EXPECT_TRUE(names.has_step("k1"));
  EXPECT_FALSE(names.has_step("k2"));
  EXPECT_TRUE(names.has_test("k2"));
  EXPECT_TRUE(names.has_failure("k3"));
  EXPECT_FALSE(names.has_failure("k1"));
}

TEST(StateNames, AnImageIsBuiltWhenRecordAndLayoutAreThere) {
  FakeFileSystem files({{"/s/built/k-1.json", ""},
                        {"/s/built/k-2.json", ""},
                        {"/s/images/pytorch/2.6-k/index.json", ""},
                        {"/s/images/jax/0.1-k/index.json", ""}});
  StatePaths state("/s");
  StateNames names(state, files);
  EXPECT_TRUE(names.is_built("k-1", "pytorch", "2.6-k"));
  EXPECT_TRUE(names.is_built("k-2", "jax", "0.1-k"));
  EXPECT_FALSE(names.is_built("k-3", "pytorch", "2.6-k")) << "no record";
  EXPECT_FALSE(names.is_built("k-1", "pytorch", "0.1-k")) << "no layout";
  EXPECT_FALSE(names.is_built("k-1", "mxnet", "0.1-k")) << "no such repository";
}

TEST(StateNames, AnImageIsKnownByItsSpec) {
  StatePaths state("/s");
  ImageSpec spec;
  spec.repository = "pytorch";
  spec.immutable_tag = "2.6-k";
  spec.key = std::string(64, 'a');
  FakeFileSystem files;
  files.files[state.built(record_name(spec))] = "";
  EXPECT_FALSE(StateNames(state, files).is_built(spec)) << "no layout";
  files.files["/s/images/pytorch/2.6-k/index.json"] = "";
  EXPECT_TRUE(StateNames(state, files).is_built(spec));
  files.remove_all(state.built(record_name(spec)));
  EXPECT_FALSE(StateNames(state, files).is_built(spec)) << "no record";
}

TEST(StateNames, AnEmptyFolderHasNothing) {
  FakeFileSystem files;
  StatePaths state("/s");
  EXPECT_FALSE(StateNames(state, files).is_built("k", "pytorch", "t"));
}

}  // namespace
}  // namespace kiln
