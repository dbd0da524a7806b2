// Literals that no value gets out of. tests/oracle/modules has the languages themselves read them.
#include <gtest/gtest.h>

#include <algorithm>

#include "factory/base/text.h"
#include "registry/modules/module_files.h"

namespace kiln {
namespace {

using Quote = std::string (*)(std::string_view);
constexpr Quote kQuotes[] = {quote_lua, quote_tcl, quote_yaml, quote_toml, quote_python};

TEST(ModuleQuote, PlainTextStaysReadable) {
  for (const Quote quote : kQuotes) EXPECT_EQ(quote("pytorch 2.6.0 (distro)"), "\"pytorch 2.6.0 (distro)\"");
  for (const Quote quote : kQuotes) EXPECT_EQ(quote("größer 😀"), "\"größer 😀\"");
}

TEST(ModuleQuote, EachLanguageHasItsEscapes) {
  EXPECT_EQ(quote_lua("a\"b\\\n\x7f]]"), R"("a\"b\\\010\127]]")");
  EXPECT_EQ(quote_tcl("[exec x] $env(HOME) {\n"), R"("\[exec x\] \$env(HOME) \{\u000a")");
  EXPECT_EQ(quote_yaml("a: \"b\"\t\xe2\x80\xa8\xc2\x85"), R"("a: \"b\"\x09\u2028\x85")");
  EXPECT_EQ(quote_toml("a\"\"\"\x01"), R"("a\"\"\"\u0001")");
  EXPECT_EQ(quote_python("{x}\r'''\""), R"("{x}\x0d'''\"")");
}

TEST(ModuleQuote, EachByteStaysOnTheLineAndWithinTheQuotes) {
  for (const Quote quote : kQuotes)
    for (int byte = 0; byte < 0x80; ++byte) {
      const std::string quoted = quote(std::string(1, static_cast<char>(byte)));
      ASSERT_GE(quoted.size(), 3u) << byte;
      EXPECT_TRUE(std::none_of(quoted.begin(), quoted.end(), is_control)) << byte;
      const std::string inside = quoted.substr(1, quoted.size() - 2);
      EXPECT_TRUE(inside != "\"" && inside != "\\") << byte;
    }
}

}  // namespace
}  // namespace kiln
