#include "factory/base/markup.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Markup, TakesNothingForItsOwn) {
  EXPECT_EQ(markup_text("<b a=\"1\" c='2'>&amp;</b>"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
}

TEST(Markup, LeavesLettersAlone) { EXPECT_EQ(markup_text("zen3, Zürich 7/8"), "zen3, Zürich 7/8"); }

TEST(Markup, TakesControlsAway) { EXPECT_EQ(markup_text("a\x1b[31mb\x07"), "ab"); }

}  // namespace
}  // namespace kiln
