#include "factory/pages/page_text.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(PageText, LeavesNothingThatMarkupWouldTakeForItsOwn) {
  EXPECT_EQ(page_text("</script><b a=\"1\" c='2'>&"),
            "&lt;/script&gt;&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
}

TEST(PageText, ShowsWhatHasNoShape) {
  EXPECT_EQ(visible_text("\u202Egnp.exe"), "[U+202E]gnp.exe");
  EXPECT_EQ(visible_text("a\u2028b\u200Bc\uFEFF"), "a[U+2028]b[U+200B]c[U+FEFF]");
  EXPECT_EQ(visible_text("\U000E0041"), "[U+E0041]");
  EXPECT_EQ(visible_text("\u00AD\u061C\u2066"), "[U+00AD][U+061C][U+2066]");
}

TEST(PageText, LeavesLettersOfAllScriptsAlone) {
  for (const char* text : {"Größe", "Ελλάδα", "שלום", "数据", "🔥", "a b-c_d:1.2"})
    EXPECT_EQ(visible_text(text), text);
}

TEST(PageText, TakesControlsAndBrokenBytesAway) {
  EXPECT_EQ(visible_text("a\x1b[31mb"), "ab");
  EXPECT_EQ(visible_text("a\xff"), "a\uFFFD");
  EXPECT_EQ(visible_text("cut \xe2\x80"), visible_text(visible_text("cut \xe2\x80")));
}

TEST(PageText, AStringOfAScriptEndsNoScript) {
  EXPECT_EQ(script_text("</script>"), "\"\\u003c/script\\u003e\"");
  EXPECT_EQ(script_text("<!--&\"\\"), "\"\\u003c!--\\u0026\\\"\\\\\"");
  EXPECT_EQ(script_text("\u2028"), "\"[U+2028]\"");
}

}  // namespace
}  // namespace kiln
