#include "factory/bench/csv_rows.h"

#include <gtest/gtest.h>

#include "support/input_errors.h"

namespace kiln::testing {
namespace {

TEST(CsvRows, EachFieldHasItsPlace) {
  const auto rows = csv_rows("a,\"b, \"\"c\"\"\",d\r\n\n\"two\nlines\",e\n,\n", "file");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].fields, (std::vector<std::string>{"a", "b, \"c\"", "d"}));
  EXPECT_EQ(rows[0].columns, (std::vector<int>{1, 3, 14}));
  EXPECT_EQ(rows[1].line, 3);
  EXPECT_EQ(rows[1].fields, (std::vector<std::string>{"two\nlines", "e"}));
  EXPECT_EQ(rows[1].columns, (std::vector<int>{1, 8}));  // in the line that the field begins in
  EXPECT_EQ(rows[2].line, 5);
  EXPECT_EQ(rows[2].fields, (std::vector<std::string>{"", ""}));
  EXPECT_TRUE(csv_rows("", "file").empty());
}

TEST(CsvRows, WrongQuotesAreRefusedWithTheirPlace) {
  EXPECT_EQ(input_error([] { csv_rows("a\nb,\"c", "file"); }),
            "file:2:5: error: the quote of a field is not closed");
  EXPECT_EQ(input_error([] { csv_rows("\"a\"b\n", "file"); }),
            "file:1:4: error: text follows the closing quote of a field");
}

TEST(CsvRows, AFieldIsReadAsItWasWritten) {
  for (const std::string& text : std::vector<std::string>{"plain", "a,b", "a\"b", "a\nb", "\""})
    EXPECT_EQ(csv_rows(csv_field(text), "file").front().fields.front(), text);
}

}  // namespace
}  // namespace kiln::testing
