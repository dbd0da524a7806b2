// Package databases of real tools, and damaged ones (tests/data/sbom/make.sh says where they are from).
#include "factory/sbom/databases.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "factory/base/digest.h"
#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln::sbom {
namespace {

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string data(const std::string& name) { return bytes_of(std::string(KILN_TEST_DATA) + "/sbom/" + name); }

const Package& named(const std::vector<Package>& packages, const std::string& name) {
  auto found =
      std::find_if(packages.begin(), packages.end(), [&](const Package& one) { return one.name == name; });
  if (found == packages.end()) throw std::runtime_error("no package " + name);
  return *found;
}

// Reads or refuses with Error(input); anything else ends the test.
template <typename Read>
bool reads(Read read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_FALSE(error.message().empty());
    return false;
  }
}

TEST(Dpkg, InstalledPackagesWithTheirSources) {
  auto packages = read_dpkg_status(data("dpkg-status"));
  EXPECT_EQ(packages.size(), 6u);  // "gone" left its configuration only
  const Package& libgcc = named(packages, "libgcc-s1");
  EXPECT_EQ(libgcc.version, "12.2.0-14+deb12u1");
  EXPECT_EQ(libgcc.architecture, "amd64");
  EXPECT_EQ(libgcc.source_name, "gcc-12");
  EXPECT_EQ(libgcc.source_version, "");
  EXPECT_EQ(package_url(libgcc, {"debian", "12", "Debian GNU/Linux"}),
            "pkg:deb/debian/libgcc-s1@12.2.0-14%2Bdeb12u1?arch=amd64&distro=debian-12&upstream=gcc-12");
  EXPECT_EQ(named(packages, "zlib1g").version.substr(0, 2), "1:");
  EXPECT_NE(package_url(named(packages, "zlib1g"), {"debian", "12", ""}).find("@1%3A"), std::string::npos);
}

// Every package that this machine's dpkg lists, with the same version.
TEST(Dpkg, ThisMachinesOwnDatabase) {
  if (!std::filesystem::exists("/var/lib/dpkg/status")) GTEST_SKIP();
  std::vector<std::string> expected;
  FILE* pipe =
      ::popen("dpkg-query -W -f '${db:Status-Status} ${Package} ${Version} ${Architecture}\\n'", "r");
  ASSERT_NE(pipe, nullptr);
  char line[1024];
  while (std::fgets(line, sizeof line, pipe) != nullptr)
    if (std::string_view(line).starts_with("installed ")) expected.emplace_back(line + 10);
  ::pclose(pipe);
  std::vector<std::string> found;
  for (const Package& package : read_dpkg_status(bytes_of("/var/lib/dpkg/status")))
    found.push_back(package.name + " " + package.version + " " + package.architecture + "\n");
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, expected);
}

TEST(Dpkg, DistrolessFilesHaveNoStatus) {
  auto packages = read_dpkg_status("Package: tzdata\nVersion: 2024a-0+deb12u1\nArchitecture: all\n");
  ASSERT_EQ(packages.size(), 1u);
  EXPECT_EQ(packages[0].name, "tzdata");
}

TEST(Dpkg, DamageIsNamedByItsLine) {
  try {
    read_dpkg_status("Package: a\nVersion: 1\n\nPackage b\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("line 4"), std::string::npos) << error.message();
  }
  EXPECT_FALSE(reads([] { read_dpkg_status("Version: 1\nStatus: install ok installed\n"); }));
  EXPECT_FALSE(reads([] { read_dpkg_status(" continued\n"); }));
  EXPECT_FALSE(reads([] { read_dpkg_status("Package: a\n " + std::string(5u << 20, 'x')); }));
}

TEST(Copyright, OfMachineReadableFiles) {
  License dpkg = read_debian_copyright(data("copyright-dpkg"));
  ASSERT_EQ(dpkg.extracted.size(), 1u);
  // The reference brings the text that the file has for it, and is named by it.
  const auto& [reference, text] = *dpkg.extracted.begin();
  EXPECT_EQ(reference, "LicenseRef-public-domain-s-s-d-" + Digest::of(text).hex().substr(0, 8));
  EXPECT_EQ(dpkg.expression, "BSD-2-Clause AND GPL-2.0-only AND GPL-2.0-or-later AND " + reference);
  EXPECT_NE(text.find("public domain.  Based"), std::string::npos);
  EXPECT_NE(text.find("Domain.\n\nChanges"), std::string::npos);
}

TEST(Copyright, OneNameWithTwoTextsIsTwoLicences) {
  auto read = [](const std::string& text) {
    return read_debian_copyright(
               "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\n"
               "License: free or free-2\n\nLicense: free\n " +
               text + "\n")
        .expression;
  };
  EXPECT_NE(read("one"), read("two"));
  EXPECT_TRUE(read("one").ends_with(" OR LicenseRef-free-2")) << read("one");
}

TEST(Copyright, ProseSaysNothing) {
  EXPECT_TRUE(read_debian_copyright(data("copyright-python3-yaml")).empty());
  EXPECT_TRUE(read_debian_copyright("This is the Debian package of x, under the GPL.\n").empty());
  EXPECT_TRUE(read_debian_copyright("").empty());
  EXPECT_TRUE(
      read_debian_copyright("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
                            "\nnot a field\n")
          .empty());
}

TEST(Apk, PackagesWithTheirFiles) {
  auto packages = read_apk_installed(data("apk-installed"));
  ASSERT_EQ(packages.size(), 3u);
  EXPECT_EQ(packages[0].license.expression, "MIT");
  EXPECT_EQ(packages[1].python,
            (std::vector<std::string>{"usr/lib/python3.11/site-packages/packaging-23.2.dist-info/METADATA"}));
  EXPECT_EQ(packages[1].license.expression, "Apache-2.0 AND BSD-2-Clause");
  EXPECT_EQ(packages[2].source_name, "openssl");
  EXPECT_EQ(package_url(packages[2], {"alpine", "3.19.0", "Alpine Linux"}),
            "pkg:apk/alpine/libcrypto3@3.1.4-r5?arch=x86_64&distro=alpine-3.19.0&upstream=openssl");
}

TEST(Apk, DamageIsRefused) {
  EXPECT_FALSE(reads([] { read_apk_installed("P:a\nV:1\n\nX"); }));
  EXPECT_FALSE(reads([] { read_apk_installed("P:a\n\n"); }));
  EXPECT_TRUE(reads([] { EXPECT_TRUE(read_apk_installed("\n\n").empty()); }));
}

TEST(Rpm, PackagesOfADatabaseThatRpmWrote) {
  auto packages = read_rpm_database(data("rpmdb.sqlite"));
  ASSERT_EQ(packages.size(), 3u);
  const Package& solver = named(packages, "solver");
  EXPECT_EQ(solver.version, "1.2-3.el9");
  EXPECT_EQ(solver.license.expression, "BSD-3-Clause AND (GPL-2.0-or-later OR Artistic-2.0)");
  EXPECT_EQ(solver.homepage, "https://solver.example/");
  EXPECT_EQ(solver.supplier, "Example Linux");
  EXPECT_EQ(solver.source_name, "");
  const Package& python = named(packages, "python3-solver");
  EXPECT_EQ(python.epoch, "1");
  EXPECT_EQ(python.source_name, "solver");
  EXPECT_EQ(python.python,
            (std::vector<std::string>{"usr/lib/python3.9/site-packages/solver-1.2.dist-info/METADATA"}));
  EXPECT_EQ(python.license.expression, "GPL-2.0-or-later AND LicenseRef-Redistributable");
  EXPECT_EQ(package_url(python, {"almalinux", "9.3", ""}),
            "pkg:rpm/almalinux/"
            "python3-solver@1.2-3.el9?arch=x86_64&distro=almalinux-9.3&epoch=1&upstream=solver%401."
            "2-3.el9");
}

// A byte changed anywhere is read or refused, never more.
TEST(Rpm, DamagedDatabasesAreReadOrRefused) {
  std::string whole = data("rpmdb.sqlite");
  std::mt19937 random(7);
  std::size_t refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bytes = whole;
    for (int flips = 0; flips < 20; ++flips)
      bytes[random() % 20'000] ^= static_cast<char>(1 + random() % 255);
    refused += reads([&] { read_rpm_database(bytes); }) ? 0 : 1;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_FALSE(reads([] { read_rpm_database(""); }));
  EXPECT_FALSE(reads([&] { read_rpm_database(whole.substr(0, 100)); }));
}

// A view that never ends, where rpm has a table.
TEST(Rpm, ASchemaThatRunsForeverIsRefused) {
  std::string file = ::testing::TempDir() + "kiln-endless.sqlite";
  std::filesystem::remove(file);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(
                database,
                "CREATE VIEW Packages(blob) AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) "
                "SELECT x FROM n WHERE x < 0",
                nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  EXPECT_FALSE(reads([&] { read_rpm_database(bytes_of(file)); }));
  std::filesystem::remove(file);
}

TEST(Rpm, HeadersThatLieAboutTheirSizesAreRefused) {
  auto word = [](std::uint32_t value) {
    return std::string{static_cast<char>(value >> 24), static_cast<char>(value >> 16),
                       static_cast<char>(value >> 8), static_cast<char>(value)};
  };
  auto header = [&](std::uint32_t offset, std::uint32_t type) {
    return word(1) + word(4) + word(1000) + word(type) + word(offset) + word(1) + std::string("abc\0", 4);
  };
  EXPECT_FALSE(reads([&] { read_rpm_header(header(0, 6)); }));  // no version
  EXPECT_FALSE(reads([&] { read_rpm_header(header(0xffffffff, 6)); }));
  EXPECT_FALSE(reads([&] { read_rpm_header(header(4, 6)); }));
  EXPECT_FALSE(reads([&] { read_rpm_header(header(0, 4)); }));
  EXPECT_FALSE(reads([&] { read_rpm_header(word(0xffffffff) + word(8)); }));
  EXPECT_FALSE(reads([&] { read_rpm_header("short"); }));
}

TEST(Python, MetadataOfAnInstalledPackage) {
  Package yaml = read_python_metadata(data("METADATA-PyYAML"));
  EXPECT_EQ(yaml.name, "PyYAML");
  EXPECT_EQ(yaml.version, "6.0");
  EXPECT_EQ(yaml.license.expression, "MIT");
  EXPECT_EQ(yaml.homepage, "https://pyyaml.org/");
  EXPECT_EQ(package_url(yaml, {}), "pkg:pypi/pyyaml@6.0");
}

TEST(Python, TheMostExactStatementOfALicenceWins) {
  auto license = [](const std::string& fields) {
    return read_python_metadata("Name: x\nVersion: 1\n" + fields + "\n\nLicense: in the description\n")
        .license.expression;
  };
  EXPECT_EQ(license("License-Expression: MIT OR Apache-2.0\nLicense: BSD"), "MIT OR Apache-2.0");
  EXPECT_EQ(license("License: BSD\nClassifier: License :: OSI Approved :: MIT License"), "MIT");
  EXPECT_EQ(license("License: BSD\nClassifier: License :: OSI Approved :: BSD License"), "LicenseRef-BSD");
  EXPECT_EQ(license("Classifier: License :: OSI Approved :: Python Software Foundation License"), "PSF-2.0");
  EXPECT_EQ(license("Summary: x"), "");
}

TEST(Python, WhereItCameFrom) {
  std::string metadata = "Name: x_y\nVersion: 1\n";
  Package archive = read_python_metadata(
      metadata,
      R"({"url": "https://user:secret@host.example/x.whl", "archive_info": {"hashes": {"sha256": "ab"}}})");
  EXPECT_EQ(archive.download, "https://host.example/x.whl");
  EXPECT_EQ(archive.checksum, "sha256:ab");
  Package repository = read_python_metadata(
      metadata,
      R"({"url": "https://host.example/x.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}})");
  EXPECT_EQ(repository.download, "git+https://host.example/x.git@c0ffee");
  EXPECT_EQ(package_url(repository, {}), "pkg:pypi/x-y@1?vcs_url=git%2Bhttps://host.example/x.git%40c0ffee");
  EXPECT_EQ(read_python_metadata(metadata, R"({"url": "file:///src", "dir_info": {}})").download, "");
  EXPECT_FALSE(reads([&] { read_python_metadata(metadata, "{"); }));
  EXPECT_FALSE(reads([] { read_python_metadata("Name: x\n"); }));
}

TEST(Conda, APackageWithoutItsToken) {
  Package numpy = read_conda_package(data("conda-meta.json"));
  EXPECT_EQ(numpy.channel, "conda-forge");
  EXPECT_EQ(numpy.download,
            "https://conda.anaconda.org/conda-forge/linux-64/numpy-1.26.4-py311h64a7726_0.conda");
  EXPECT_EQ(numpy.checksum, "sha256:3f4365e11b28e244c95ba8579942b0802761ba7bb31c026f50d1a9ea9c728149");
  EXPECT_EQ(numpy.license.expression, "BSD-3-Clause");
  EXPECT_EQ(numpy.python.size(), 1u);
  EXPECT_EQ(package_url(numpy, {}),
            "pkg:conda/numpy@1.26.4?build=py311h64a7726_0&channel=conda-forge&subdir=linux-64");
  EXPECT_FALSE(reads([] { read_conda_package("[]"); }));
  EXPECT_FALSE(reads([] { read_conda_package(R"({"name": "x"})"); }));
}

TEST(OsRelease, QuotedOrNot) {
  Distribution debian = read_os_release("NAME=\"Debian GNU/Linux\"\nVERSION_ID='12'\nID=debian\nBROKEN\n");
  EXPECT_EQ(debian.name, "Debian GNU/Linux");
  EXPECT_EQ(debian.version, "12");
  EXPECT_EQ(debian.id, "debian");
  EXPECT_EQ(read_os_release("ID=\xff").id, "");
}

}  // namespace
}  // namespace kiln::sbom
