// Patterns over the images of an index.
#include "registry/index/image_patterns.h"

#include <gtest/gtest.h>

#include "index/samples.h"

namespace kiln {
namespace {

IndexEntry entry_of(const std::string& version, const std::string& method,
                    const std::vector<std::string>& compilers, const std::string& cpu) {
  IndexEntry entry;
  entry.image.manifest = Digest::of(version + method + cpu);
  entry.image.repository = "tensorflow";
  entry.image.tag = version + "-" + method + "-" + cpu;
  entry.image.application = "TensorFlow";
  entry.image.version = Version(version);
  entry.image.method = method;
  entry.image.cpu = cpu;
  entry.image.accelerators = {"nvidia:sm_80"};
  entry.image.components.push_back({"framework", "tensorflow", Version(version), method, false});
  for (const std::string& name : compilers)
    entry.image.components.push_back({"compiler", name, {}, "", false});
  entry.matrices = {"demo", "night"};
  return entry;
}

bool matches(const std::vector<std::string>& patterns, const IndexEntry& entry) {
  return ImagePatterns(patterns).match(entry);
}

TEST(ImagePatterns, ChooseByWhatAnImageIs) {
  const IndexEntry entry = entry_of("2.1.0", "source", {"xla"}, "haswell");
  for (const char* pattern : {"tensorflow:2.1.0-*", "2.1.0-source-haswell", "application=tensorflow",
                              "application=TensorFlow", "version=2.1*", "method=source", "compiler=xla",
                              "target=haswell", "target=nvidia:*", "state=good", "matrix=night"})
    EXPECT_TRUE(matches({pattern}, entry)) << pattern;
  for (const char* pattern : {"pytorch:*", "tensorflow", "version=2.1", "method=pip", "compiler=none",
                              "compiler=tvm", "target=zen3", "state=stale", "matrix=day", "version="})
    EXPECT_FALSE(matches({pattern}, entry)) << pattern;
  EXPECT_TRUE(matches({}, entry)) << "all";
}

TEST(ImagePatterns, TakeAnyOfOneKeyAndAllOfDifferentOnes) {
  const IndexEntry entry = entry_of("2.1.0", "source", {}, "haswell");
  EXPECT_TRUE(matches({"method=pip", "method=source", "target=haswell"}, entry));
  EXPECT_FALSE(matches({"method=source", "target=zen3"}, entry));
  EXPECT_TRUE(matches({"pytorch:*", "tensorflow:*"}, entry)) << "names are one key";
  EXPECT_FALSE(matches({"tensorflow:*", "method=pip"}, entry));
}

TEST(ImagePatterns, TakeCompilersAsWholeValues) {
  EXPECT_TRUE(matches({"compiler=none"}, entry_of("1", "pip", {}, "zen3")));
  const IndexEntry two = entry_of("1", "pip", {"xla", "tvm"}, "zen3");
  EXPECT_FALSE(matches({"compiler=xla"}, two));
  EXPECT_TRUE(matches({"compiler=xla+tvm"}, two));
  EXPECT_TRUE(matches({"compiler=*tvm*"}, two));
  EXPECT_TRUE(matches({"runtime=none"}, two));
  IndexEntry faster = two;
  for (const char* name : {"onednn", "tcmalloc"})
    faster.image.components.push_back({"runtime", name, {}, "", false});
  EXPECT_TRUE(matches({"runtime=onednn+tcmalloc"}, faster));
  EXPECT_FALSE(matches({"runtime=tcmalloc"}, faster));
}

TEST(ImagePatterns, KnowTheOneApplicationThatCanMatch) {
  EXPECT_EQ(ImagePatterns({"application=TensorFlow", "version=2"}).application(), "tensorflow");
  EXPECT_EQ(ImagePatterns({"application=tensor*"}).application(), "");
  EXPECT_EQ(ImagePatterns({"application=a", "application=b"}).application(), "");
  EXPECT_EQ(ImagePatterns({}).application(), "");
}

TEST(ImagePatterns, RefuseAKeyThatImagesHaveNot) {
  try {
    ImagePatterns({"methid=source"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.format(), "error: no key of images is called 'methid'; did you mean 'method'?");
  }
}

}  // namespace
}  // namespace kiln
