// Licences as package databases write them, and the SPDX expressions that they become.
#include <gtest/gtest.h>

#include "factory/base/digest.h"
#include "factory/sbom/package.h"

namespace kiln::sbom {
namespace {

std::string spdx(std::string_view written) { return read_license(written).expression; }

TEST(ReadLicense, NamesOfTheListInAnyCase) {
  EXPECT_EQ(spdx("MIT"), "MIT");
  EXPECT_EQ(spdx("apache-2.0"), "Apache-2.0");
  EXPECT_EQ(spdx(" bsd-3-clause\n"), "BSD-3-Clause");
  EXPECT_TRUE(read_license("MIT").on_the_list());
}

TEST(ReadLicense, NothingSaidIsNoLicence) {
  for (const char* nothing : {"", " \n", "UNKNOWN", "None", "NOASSERTION"})
    EXPECT_TRUE(read_license(nothing).empty()) << nothing;
}

TEST(ReadLicense, DebiansShortNames) {
  EXPECT_EQ(spdx("GPL-2+"), "GPL-2.0-or-later");
  EXPECT_EQ(spdx("LGPL-2.1"), "LGPL-2.1-only");
  EXPECT_EQ(spdx("Expat"), "MIT");
  EXPECT_EQ(spdx("GPL-1+ or Artistic"), "GPL-1.0-or-later OR Artistic-1.0-Perl");
  EXPECT_EQ(spdx("GPL-2+ or Artistic-2.0, and BSD-3-clause"),
            "(GPL-2.0-or-later OR Artistic-2.0) AND BSD-3-Clause");
  EXPECT_EQ(spdx("GPL-3+ with Bison exception"), "GPL-3.0-or-later WITH Bison-exception-2.2");
}

TEST(ReadLicense, AnExceptionThatTheListDoesNotHaveIsKeptWhole) {
  License license = read_license("GPL-2+ with Frobnicate exception or MIT");
  ASSERT_EQ(license.extracted.size(), 1u);
  EXPECT_EQ(license.extracted.begin()->second, "GPL-2+ with Frobnicate exception");
  EXPECT_EQ(license.expression, license.extracted.begin()->first + " OR MIT");
}

TEST(ReadLicense, FedorasAndPythonsNames) {
  EXPECT_EQ(spdx("GPLv2+ and ASL 2.0"), "GPL-2.0-or-later AND Apache-2.0");
  EXPECT_EQ(spdx("Apache License, Version 2.0"), "Apache-2.0");
  EXPECT_EQ(spdx("3-Clause BSD License"), "BSD-3-Clause");
  EXPECT_EQ(spdx("Apache-2.0 WITH LLVM-exception"), "Apache-2.0 WITH LLVM-exception");
  EXPECT_EQ(spdx("MPL-2.0+"), "MPL-2.0+");
}

TEST(ReadLicense, PrecedenceAndParentheses) {
  EXPECT_EQ(spdx("MIT or ISC and Zlib"), "MIT OR (ISC AND Zlib)");
  EXPECT_EQ(spdx("(MIT OR ISC) AND Zlib"), "(MIT OR ISC) AND Zlib");
  EXPECT_EQ(spdx("MIT AND MIT"), "MIT");
  EXPECT_EQ(spdx("((MIT))"), "MIT");
}

TEST(ReadLicense, OtherNamesBecomeReferencesWithWhatWasWritten) {
  License license = read_license("Redistributable");
  EXPECT_EQ(license.expression, "LicenseRef-Redistributable");
  EXPECT_EQ(license.extracted.at("LicenseRef-Redistributable"), "Redistributable");
  EXPECT_FALSE(license.on_the_list());
  // "BSD" is a family: which of them is not said.
  EXPECT_EQ(spdx("BSD"), "LicenseRef-BSD");
  EXPECT_NE(spdx("Public Domain"), spdx("Public/Domain"));
  EXPECT_EQ(spdx("Public Domain").find_first_of(" /"), std::string::npos);
}

TEST(ReadLicense, ATextIsNotTakenForAnExpression) {
  EXPECT_EQ(spdx("MIT License\n\nCopyright (c) 2020 somebody, and others"), "MIT");
  std::string text = "Copyright (c) 2005, NumPy Developers.\nAll rights reserved.";
  License license = read_license(text);
  ASSERT_EQ(license.extracted.size(), 1u);
  EXPECT_EQ(license.extracted.begin()->second, text);
  EXPECT_EQ(license.expression, license.extracted.begin()->first);
}

TEST(ReadLicense, WhatCannotBeReadIsKept) {
  for (const char* odd : {"MIT AND", "(MIT", "MIT)", "OR", "MIT, ISC, or Zlib", "with with with"}) {
    License license = read_license(odd);
    ASSERT_EQ(license.extracted.size(), 1u) << odd;
    EXPECT_EQ(license.extracted.begin()->second, odd);
  }
  std::string deep(3000, '(');
  EXPECT_EQ(read_license(deep).extracted.size(), 1u);
  EXPECT_EQ(read_license(std::string(1u << 20, 'x')).extracted.begin()->second.size(), 64u << 10);
}

TEST(AllOf, EachOnceAndInOrder) {
  EXPECT_EQ(all_of({read_license("Zlib"), read_license("MIT or ISC"), read_license("Zlib"), {}}).expression,
            "(MIT OR ISC) AND Zlib");
  EXPECT_EQ(all_of({read_license("MIT or ISC")}).expression, "MIT OR ISC");
  EXPECT_TRUE(all_of({}).empty());
  EXPECT_EQ(all_of({read_license("Odd")}).extracted.size(), 1u);
}

TEST(LicenseList, IsOneOfSpdx) { EXPECT_TRUE(license_list_version().starts_with("3.")); }

}  // namespace
}  // namespace kiln::sbom
