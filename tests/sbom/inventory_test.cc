// Whole images: databases in layers, what belongs to what, and both documents.
#include "factory/sbom/inventory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "factory/sbom/bill.h"
#include "support/fake_effects.h"
#include "support/layout.h"

namespace kiln::sbom {
namespace {

using kiln::testing::tar;
using kiln::testing::TarEntry;

std::string sbom_data(const std::string& name) {
  std::ifstream in(std::string(KILN_TEST_DATA) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TarEntry file(const std::string& name, const std::string& content) { return {name, '0', content}; }
TarEntry link(const std::string& name, const std::string& target) {
  TarEntry entry{name, '2', ""};
  entry.link = target;
  return entry;
}

std::vector<TarEntry> debian() {
  return {
      file("var/lib/dpkg/status", sbom_data("sbom/dpkg-status")),
      file("var/lib/dpkg/info/python3-yaml.list",
           "/.\n/usr/lib/python3/dist-packages/PyYAML-6.0.dist-info/METADATA\n/usr/lib/python3/x.py\n"),
      file("usr/lib/os-release", "NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n"),
      link("etc/os-release", "../usr/lib/os-release"),
      file("usr/share/doc/python3-yaml/copyright", sbom_data("sbom/copyright-python3-yaml")),
      file("usr/share/doc/dpkg/copyright", sbom_data("sbom/copyright-dpkg")),
      file("usr/share/doc/zlib1g/copyright", sbom_data("sbom/copyright-zlib1g")),
      file("usr/lib/python3/dist-packages/PyYAML-6.0.dist-info/METADATA", sbom_data("sbom/METADATA-PyYAML"))};
}

Inventory inventory_of(const std::vector<std::vector<TarEntry>>& layers) {
  std::vector<std::string> tars;
  for (const auto& entries : layers) tars.push_back(tar(entries));
  kiln::testing::TestLayout layout;
  layout.one_image(tars);
  return read_inventory(SourceImage::open(parse_image_name("oci:" + layout.path()), "amd64"));
}

const Package* find(const Inventory& inventory, Ecosystem ecosystem, const std::string& name) {
  for (const Package& package : inventory.packages)
    if (package.ecosystem == ecosystem && package.name == name) return &package;
  return nullptr;
}

TEST(Inventory, OfADebianImage) {
  Inventory inventory = inventory_of({debian()});
  EXPECT_EQ(inventory.distribution.id, "debian");
  EXPECT_EQ(inventory.packages.size(), 7u);
  EXPECT_TRUE(inventory.gaps.empty());
  const Package* yaml = find(inventory, Ecosystem::deb, "python3-yaml");
  ASSERT_NE(yaml, nullptr);
  EXPECT_TRUE(yaml->license.empty());  // its copyright file is prose
  EXPECT_EQ(find(inventory, Ecosystem::deb, "dpkg")->license.extracted.size(), 1u);
  EXPECT_EQ(yaml->supplier, "Debian GNU/Linux");
  EXPECT_EQ(yaml->database, "var/lib/dpkg/status");
  // The Python package is a part of the Debian one, and listed as that.
  const Package* python = find(inventory, Ecosystem::pypi, "PyYAML");
  ASSERT_NE(python, nullptr);
  EXPECT_EQ(python->owner, package_url(*yaml, inventory.distribution));
  EXPECT_TRUE(find(inventory, Ecosystem::deb, "libc6")->license.empty());  // no copyright file in this image
}

TEST(Inventory, UpperLayersDecide) {
  std::string site = "opt/venv/lib/python3.11/site-packages/";
  Inventory inventory = inventory_of(
      {debian(),
       {file(site + "torch-2.6.0.dist-info/METADATA", "Name: torch\nVersion: 2.6.0\nLicense: BSD-3-Clause\n"),
        file(site + "torch-2.6.0.dist-info/INSTALLER", "pip\n"),
        file(site + "old-1.dist-info/METADATA", "Name: old\nVersion: 1\n")},
       {{site + ".wh.old-1.dist-info", '0', ""},
        file("var/lib/dpkg/status", "Package: only\nVersion: 2\nStatus: install ok installed\n")}});
  EXPECT_EQ(inventory.packages.size(), 3u);  // only, PyYAML, torch
  EXPECT_NE(find(inventory, Ecosystem::deb, "only"), nullptr);
  EXPECT_EQ(find(inventory, Ecosystem::pypi, "old"), nullptr);
  EXPECT_EQ(find(inventory, Ecosystem::pypi, "torch")->installer, "pip");
  EXPECT_EQ(find(inventory, Ecosystem::pypi, "torch")->owner, "");
}

TEST(Inventory, AllDatabasesAtOnce) {
  Inventory inventory = inventory_of(
      {{file("lib/apk/db/installed", sbom_data("sbom/apk-installed")),
        file("usr/lib/python3.11/site-packages/packaging-23.2.dist-info/METADATA",
             "Name: packaging\nVersion: 23.2\n"),
        file("usr/lib/sysimage/rpm/rpmdb.sqlite", sbom_data("sbom/rpmdb.sqlite")),
        file("opt/conda/conda-meta/numpy-1.26.4-py311h64a7726_0.json", sbom_data("sbom/conda-meta.json")),
        file("opt/conda/conda-meta/history", "==> 2024 <==\n"),
        file("opt/conda/lib/python3.11/site-packages/numpy-1.26.4.dist-info/METADATA",
             "Name: numpy\nVersion: 1.26.4\n"),
        file("var/lib/dpkg/status.d/tzdata", "Package: tzdata\nVersion: 1\n"),
        file("var/lib/dpkg/status.d/tzdata.md5sums", "00  usr\n")}});
  EXPECT_TRUE(inventory.gaps.empty()) << inventory.gaps.front();
  EXPECT_EQ(inventory.packages.size(), 3u + 1 + 3 + 1 + 1 + 1);
  EXPECT_EQ(find(inventory, Ecosystem::pypi, "packaging")->owner,
            package_url(*find(inventory, Ecosystem::apk, "py3-packaging"), inventory.distribution));
  EXPECT_EQ(find(inventory, Ecosystem::pypi, "numpy")->owner,
            package_url(*find(inventory, Ecosystem::conda, "numpy"), inventory.distribution));
}

TEST(Inventory, EggsOfOldInstallers) {
  const std::string site = "usr/local/lib/python2.7/dist-packages/";
  const Inventory inventory =
      inventory_of({{file(site + "pip-9.0.2-py2.7.egg/EGG-INFO/PKG-INFO", "Name: pip\nVersion: 9.0.2\n"),
                     file("src/EGG-INFO/PKG-INFO", "Name: local\nVersion: 1\n"),
                     file(site + "zipped-1-py2.7.egg", "PK"), file(site + "EGG-INFO/SOURCES.txt", "x")}});
  ASSERT_NE(find(inventory, Ecosystem::pypi, "pip"), nullptr);
  EXPECT_EQ(find(inventory, Ecosystem::pypi, "pip")->version, "9.0.2");
  EXPECT_NE(find(inventory, Ecosystem::pypi, "local"), nullptr);
  EXPECT_EQ(inventory.packages.size(), 2u);
  EXPECT_EQ(inventory.gaps,
            std::vector<std::string>{
                site + "zipped-1-py2.7.egg: a Python package in one file, as easy_install made it, "
                       "is not read"});
}

TEST(Inventory, AnEmptyLogOfSqliteHidesNothing) {
  auto gaps = [](std::size_t size) {
    return inventory_of({{file("var/lib/rpm/rpmdb.sqlite", sbom_data("sbom/rpmdb.sqlite")),
                          file("var/lib/rpm/rpmdb.sqlite-wal", std::string(size, 'w')),
                          file("var/lib/rpm/rpmdb.sqlite-shm", "")}})
        .gaps;
  };
  EXPECT_TRUE(gaps(0).empty()) << gaps(0).front();
  EXPECT_TRUE(gaps(32).empty()) << "a header without a change";
  EXPECT_EQ(gaps(33).size(), 1u);
}

TEST(Inventory, PackagesThatAreNotConfiguredHaveTheirState) {
  Bill bill;
  bill.inventory = inventory_of({{file("var/lib/dpkg/status",
                                       "Package: a\nVersion: 1\nStatus: install ok half-configured\n\n"
                                       "Package: b\nVersion: 1\nStatus: install reinstreq half-installed\n\n"
                                       "Package: c\nVersion: 1\nStatus: install ok unpacked\n\n"
                                       "Package: d\nVersion: 1\nStatus: deinstall ok config-files\n\n"
                                       "Package: e\nVersion: 1\nStatus: purge ok not-installed\n\n"
                                       "Package: f\nVersion: 1\nStatus: install ok triggers-pending\n\n"
                                       "Package: g\nVersion: 1\nStatus: hold ok installed\n")}});
  std::map<std::string, std::string> states;
  for (const Package& package : bill.inventory.packages) states[package.name] = package.state;
  EXPECT_EQ(states,
            (std::map<std::string, std::string>{
                {"a", "half-configured"}, {"b", "half-installed"}, {"c", "unpacked"}, {"f", ""}, {"g", ""}}));
  EXPECT_NE(to_spdx(bill).find("found in /var/lib/dpkg/status, half-configured"), std::string::npos);
  EXPECT_NE(to_cyclonedx(bill).find("\"kiln:state\""), std::string::npos);
  EXPECT_EQ(
      inventory_from_json(JsonDocument::parse(to_json(bill.inventory).dump(), "x").root()).packages[0].state,
      "half-configured");
}

TEST(Inventory, WhatIsNotReadIsSaid) {
  Inventory inventory = inventory_of(
      {{file("var/lib/rpm/Packages", "berkeley"), file("var/lib/rpm/Packages.db", "ndb"),
        file("var/lib/rpm/rpmdb.sqlite", "not a database"), file("lib/apk/db/installed", "???"),
        file("x/conda-meta/bad.json", "{"), file("x.dist-info/METADATA", std::string(2u << 20, 'x'))}});
  EXPECT_TRUE(inventory.packages.empty());
  EXPECT_EQ(inventory.gaps.size(), 6u);
  EXPECT_EQ(inventory.gaps[0], "lib/apk/db/installed: line 1: expected a letter, a colon and a value");
  EXPECT_EQ(inventory.gaps[2], "var/lib/rpm/Packages: Berkeley DB is not read");
}

Bill sample() {
  Bill bill;
  bill.name = "pytorch";
  bill.version = "2.6.0-distro-x86_64-bookworm";
  bill.description = "pytorch 2.6.0 (distro)";
  bill.identity = std::string(64, 'a');
  bill.created = 315532800;
  bill.tool = "0.1.0";
  Package openblas;
  openblas.kind = "library";
  openblas.name = "openblas";
  openblas.version = "0.3.29";
  openblas.method = "source";
  openblas.download =
      "https://github.com/OpenMathLib/OpenBLAS/releases/download/v0.3.29/OpenBLAS-0.3.29.tar.gz";
  openblas.checksum = "sha256:38240eee1b29e2bde47ebb5d61160207dc68668a54cac62c076bb5032013b1eb";
  openblas.license = read_license("BSD-3-Clause");
  bill.components = {openblas};
  bill.inventory = inventory_of({debian()});
  bill.inventory.gaps = {"var/lib/rpm/Packages: Berkeley DB is not read"};
  return bill;
}

TEST(Bill, IsWrittenAsSpdx) {
  kiln::testing::expect_golden(to_spdx(sample()), std::string(KILN_TEST_DATA) + "/golden/bill.spdx.json");
}
TEST(Bill, IsWrittenAsCycloneDx) {
  kiln::testing::expect_golden(to_cyclonedx(sample()), std::string(KILN_TEST_DATA) + "/golden/bill.cdx.json");
}

TEST(Bill, TheSameBillIsTheSameBytesAndAnotherHasAnotherName) {
  EXPECT_EQ(to_spdx(sample()), to_spdx(sample()));
  Bill other = sample();
  other.inventory.packages.pop_back();
  auto line = [](const std::string& text, const char* key) {
    std::size_t at = text.find(key);
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_NE(line(to_spdx(sample()), "documentNamespace"), line(to_spdx(other), "documentNamespace"));
  EXPECT_NE(line(to_cyclonedx(sample()), "serialNumber"), line(to_cyclonedx(other), "serialNumber"));
}

// One package twice, as two virtual environments have it.
TEST(Bill, OnePackageInTwoPlacesHasTwoIds) {
  Inventory inventory = inventory_of({{file("a/x-1.dist-info/METADATA", "Name: x\nVersion: 1\n"),
                                       file("b/x-1.dist-info/METADATA", "Name: x\nVersion: 1\n")}});
  ASSERT_EQ(inventory.packages.size(), 2u);
  Bill bill;
  bill.name = "two";
  bill.inventory = inventory;
  Json document = Json::parse(to_spdx(bill));
  ASSERT_EQ(document["packages"].size(), 3u);
  EXPECT_NE(document["packages"][1]["SPDXID"], document["packages"][2]["SPDXID"]);
}

}  // namespace
}  // namespace kiln::sbom
