#include "factory/pages/bill_table.h"

#include <gtest/gtest.h>

#include "pages/page_samples.h"

namespace kiln {
namespace {

using testing::has;

constexpr const char* kBill = R"({"packages": [
  {"name": "image", "primaryPackagePurpose": "CONTAINER", "versionInfo": "1"},
  {"name": "zlib1g", "versionInfo": "1.3", "licenseConcluded": "NOASSERTION", "licenseDeclared": "Zlib"},
  {"name": "libc6", "versionInfo": "2.41", "licenseDeclared": "LGPL-2.1-or-later"},
  {"name": "libm", "versionInfo": "2.41", "licenseConcluded": "LGPL-2.1-or-later", "licenseDeclared": "NOASSERTION"},
  {"name": "<b>", "versionInfo": "1", "licenseDeclared": "NONE"}]})";

TEST(BillTable, CountsLicencesTheMostFrequentFirst) {
  const std::string html = bill_html(kBill);
  const std::size_t most = html.find("LGPL-2.1-or-later</th><td class=\"number\">2<");
  EXPECT_NE(most, std::string::npos) << html;
  EXPECT_LT(most, html.find("Zlib</th>"));
  EXPECT_TRUE(has(html, "not said</th><td class=\"number\">1<"));
}

TEST(BillTable, CountsEachLicenceOfAnExpression) {
  const std::string paragraph =
      "GPL-2.0-or-later WITH Classpath-exception-2.0 AND (MIT OR Apache-2.0) AND MIT AND LicenseRef-Debian-1";
  EXPECT_EQ(licences_in(paragraph),
            (std::vector<std::string>{"Apache-2.0", "GPL-2.0-or-later WITH Classpath-exception-2.0",
                                      "LicenseRef-Debian-1", "MIT"}));
  EXPECT_TRUE(licences_in("").empty());
  EXPECT_EQ(licences_in("WITH"), std::vector<std::string>{"WITH"});
  const std::string html = bill_html(R"({"packages": [
    {"name": "a", "licenseDeclared": ")" +
                                     paragraph + R"("}, {"name": "b", "licenseDeclared": "MIT"}]})");
  EXPECT_TRUE(has(html, "MIT</th><td class=\"number\">2<")) << html;
  EXPECT_TRUE(has(html, "<summary>4 licences</summary>GPL-2.0-or-later WITH"));
  EXPECT_LT(html.find("MIT</th>"), html.find("Apache-2.0</th>"));
}

TEST(BillTable, FoldsTheRareLicences) {
  std::string packages;
  for (int i = 0; i < 14; ++i)
    packages += fmt::format(R"({}{{"name": "p{}", "licenseDeclared": "L-{}"}})", i ? "," : "", i, i);
  EXPECT_TRUE(has(bill_html("{\"packages\": [" + packages + "]}"), "<summary>4 licences more</summary>"));
}

TEST(BillTable, ListsPackagesWithoutTheImageItself) {
  const std::string html = bill_html(kBill);
  EXPECT_TRUE(has(html, "All 4 packages"));
  EXPECT_FALSE(has(html, "<th scope=\"row\">image</th>"));
  EXPECT_TRUE(has(html, "&lt;b&gt;"));
  EXPECT_FALSE(has(html, "<b>"));
}

TEST(BillTable, SaysWhatIsWrong) {
  EXPECT_TRUE(has(bill_html("{"), "could not be read"));
  EXPECT_TRUE(has(bill_html("{}"), "could not be read"));
  EXPECT_TRUE(has(bill_html(R"({"packages": []})"), "Nothing that a package manager knows"));
}

constexpr const char* kStatement = R"json({"predicate": {"buildDefinition": {
  "externalParameters": {"matrix": "demo"},
  "internalParameters": {
    "flags": [{"variable": "CFLAGS", "value": "-O2 -march=zen3", "compiler": "gcc 14.2.0",
               "from": "archspec's gcc 10.3: for zen3; -O2 by default", "component": "framework/pytorch"}],
    "steps": [{"title": "pytorch 2.6.0 (source)", "kind": "run", "key": "0123456789abcdef"}]}}}})json";

TEST(BillTable, FlagsComeWithWhereTheyCameFrom) {
  const std::string html = flags_html(kStatement);
  for (const char* words :
       {"CFLAGS", "-O2 -march=zen3", "gcc 14.2.0", "archspec&#39;s gcc 10.3: for zen3", "framework/pytorch"})
    EXPECT_TRUE(has(html, words)) << words;
  EXPECT_TRUE(has(steps_html(kStatement), "0123456789ab</code>"));
  EXPECT_EQ(matrix_of(kStatement), "demo");
}

TEST(BillTable, OfAnotherStatementThereIsNothing) {
  for (const char* text : {"{}", R"({"predicate": {}})", R"({"predicate": {"buildDefinition": {}}})"}) {
    EXPECT_EQ(flags_html(text), "") << text;
    EXPECT_EQ(steps_html(text), "") << text;
    EXPECT_EQ(matrix_of(text), "") << text;
  }
  EXPECT_TRUE(has(flags_html("no json"), "could not be read"));
  EXPECT_EQ(matrix_of("no json"), "");
}

}  // namespace
}  // namespace kiln
