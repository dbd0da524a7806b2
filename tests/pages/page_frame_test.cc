#include "factory/pages/page_frame.h"

#include <gtest/gtest.h>

#include <set>

#include "factory/base/quote.h"
#include "pages/page_samples.h"

namespace kiln {
namespace {

using testing::sample_image;
using testing::sample_mapping;

TEST(PageNames, OrdinaryNamesAreTheirOwn) {
  EXPECT_EQ(file_word("2.6.0-pip_x86-64"), "2.6.0-pip_x86-64");
  EXPECT_EQ(image_path(sample_image(0)), "images/pytorch/2.0.0-pip-x86_64_v3-trixie.html");
  EXPECT_EQ(night_path("demo", 12), "nights/demo/12.html");
}

TEST(PageNames, OthersHaveTheirDigits) {
  for (const std::string& name :
       {std::string("../../etc/passwd"), std::string(".hidden"), std::string("-x"), std::string(""),
        std::string("a/b"), std::string("A"), std::string("a\0b", 3), std::string("%2e"),
        std::string(300, 'a'), std::string("\u202E"), std::string("a~000000000000")}) {
    const std::string word = file_word(name);
    EXPECT_EQ(word[word.size() - 13], '~') << name;
    EXPECT_LT(word.size(), 120u);
    EXPECT_NE(word.front(), '.');
    EXPECT_NE(word.front(), '-');
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-~"), std::string::npos) << word;
  }
}

TEST(PageNames, NoTwoShareAFile) {
  std::set<std::string> words;
  for (const char* name : {"a", "A", "a/", "a ", "/a", "a_", "_a", "a~b"}) words.insert(file_word(name));
  EXPECT_EQ(words.size(), 8u);
}

TEST(PageNames, AMappingIsFoundByItsCode) {
  EXPECT_EQ(image_path(sample_mapping("mpich-1", "docker://x").image), "mappings/mpich-1.html");
}

TEST(PageNames, TheWayUp) {
  EXPECT_EQ(way_up("index.html"), "");
  EXPECT_EQ(way_up("mappings/a.html"), "../");
  EXPECT_EQ(way_up("images/pytorch/2.html"), "../../");
}

TEST(PageNames, MappingsOfOneReferenceShowTheirCodes) {
  const std::vector<IndexEntry> entries = {sample_mapping("one", "docker://a/b:1"),
                                           sample_mapping("two", "docker://a/b:1"),
                                           sample_mapping("three", "docker://c/d:1")};
  const PageNames names(entries);
  EXPECT_EQ(names(entries[0].image), "docker://a/b:1 (one)");
  EXPECT_EQ(names(entries[2].image), "docker://c/d:1");
}

TEST(PageText, LeavesNothingThatMarkupWouldTakeForItsOwn) {
  EXPECT_EQ(markup_text("</script><b a=\"1\" c='2'>&"),
            "&lt;/script&gt;&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
}

TEST(PageText, ShowsWhatHasNoShape) { EXPECT_EQ(markup_text("\u202Egnp.exe<"), "[U+202E]gnp.exe&lt;"); }

TEST(PageText, AStringOfAScriptEndsNoScript) {
  EXPECT_EQ(script_text("</script>"), "\"\\u003c/script\\u003e\"");
  EXPECT_EQ(script_text("<!--&\"\\"), "\"\\u003c!--\\u0026\\\"\\\\\"");
  EXPECT_EQ(script_text("\u2028"), "\"[U+2028]\"");
}

}  // namespace
}  // namespace kiln
