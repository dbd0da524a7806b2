#include "factory/pages/page_text.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(PageText, LeavesNothingThatMarkupWouldTakeForItsOwn) {
  EXPECT_EQ(page_text("</script><b a=\"1\" c='2'>&"),
            "&lt;/script&gt;&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
}

TEST(PageText, ShowsWhatHasNoShape) { EXPECT_EQ(page_text("\u202Egnp.exe<"), "[U+202E]gnp.exe&lt;"); }

TEST(PageText, AStringOfAScriptEndsNoScript) {
  EXPECT_EQ(script_text("</script>"), "\"\\u003c/script\\u003e\"");
  EXPECT_EQ(script_text("<!--&\"\\"), "\"\\u003c!--\\u0026\\\"\\\\\"");
  EXPECT_EQ(script_text("\u2028"), "\"[U+2028]\"");
}

}  // namespace
}  // namespace kiln
