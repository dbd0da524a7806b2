#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/pages/pages.h"
#include "factory/pages/speed_table.h"
#include "pages/page_samples.h"

namespace kiln {
namespace {

using testing::sample_entry;
using testing::sample_mapping;

Json data_of(const std::vector<IndexEntry>& entries) {
  PageContent content{7, {}, entries};
  const std::string text = catalogue_data(content, PageNames(content.entries));
  constexpr std::string_view kStart = "window.kilnCatalogue = ", kEnd = ";\n";
  EXPECT_TRUE(text.starts_with(kStart) && text.ends_with(kEnd));
  return Json::parse(text.substr(kStart.size(), text.size() - kStart.size() - kEnd.size()));
}

TEST(CatalogueData, ARowHasWhatTheScriptReads) {
  const Json data = data_of({sample_entry(15)});  // 2.0.0 of pytorch for zen4 without a GPU, pip
  const Json& row = data["rows"][0];
  const auto word = [&](std::size_t place) { return data["words"][row[place].get<std::size_t>()]; };
  ASSERT_EQ(row.size(), 15u);
  EXPECT_EQ(row[0], sample_entry(15).image.name());
  EXPECT_EQ(row[1], 0);  // its page follows from its name
  EXPECT_EQ(word(2), sample_entry(15).image.application);
  EXPECT_EQ(data["versions"][row[3].get<std::size_t>()], sample_entry(15).image.version.text());
  EXPECT_EQ(word(4), "pip");
  EXPECT_EQ(word(6), sample_entry(15).image.cpu);
  EXPECT_EQ(row[8], sample_entry(15).image.size);
  EXPECT_EQ(word(12), "3.13");
  EXPECT_EQ(word(13), "");  // no CUDA
  EXPECT_EQ(word(14), "");
  EXPECT_EQ(row[9], "");  // nobody knows when it was published
  EXPECT_EQ(data["snapshot"], 7);
}

TEST(CatalogueData, AnImageIsAsOldAsItsPublication) {
  IndexEntry entry = sample_entry(15);
  entry.image.created = "1980-01-01T00:00:00Z";  // as reproducible images say
  PageContent content{7, {}, {entry}};
  content.published[entry.image.identity().hex()] = "2026-11-21T04:00:00Z";
  const std::string text = catalogue_data(content, PageNames(content.entries));
  EXPECT_NE(text.find("\"2026-11-21\""), std::string::npos);
  EXPECT_EQ(text.find("1980"), std::string::npos);
}

TEST(CatalogueData, VersionsAreOrderedAsVersions) {
  IndexEntry nine = sample_entry(0), ten = sample_entry(0);
  nine.image.version = Version("2.9.1");
  nine.image.tag = "nine";
  ten.image.version = Version("2.10.0");
  ten.image.tag = "ten";
  const Json data = data_of({nine, ten});
  EXPECT_EQ(data["versions"], Json({"2.10.0", "2.9.1"}));
  EXPECT_EQ(data["rows"][0][0], "pytorch:ten");
}

TEST(CatalogueData, StatesAreBits) {
  IndexEntry entry = sample_entry(0);
  entry.image.optimised = false;
  EXPECT_EQ(data_of({entry})["rows"][0][10], 0);
  entry.stale = true;
  EXPECT_EQ(data_of({entry})["rows"][0][10], 1);
  entry.retired = "wrong";
  entry.image.optimised = true;
  EXPECT_EQ(data_of({entry})["rows"][0][10], 1 + 4 + 32);
  EXPECT_EQ(data_of({sample_mapping("m", "docker://a/b")})["rows"][0][10], 16);
}

TEST(CatalogueData, OfTwoMeasurementsInOnePlaceTheLatestCounts) {
  IndexEntry entry = sample_entry(0);
  const std::size_t places = entry.measurements.size();
  ASSERT_GT(places, 0u);
  Measurement later = entry.measurements.front();
  later.median = 12.5;
  entry.measurements.push_back(later);
  const Json speeds = data_of({entry})["rows"][0][11];
  EXPECT_EQ(speeds.size(), places);
  EXPECT_EQ(speeds[0][3], 12.5);
}

TEST(CatalogueData, CudaAndDriverAreThoseOfTheNeeds) {
  IndexEntry entry = sample_entry(0);
  entry.image.needs.cuda = Version("13.0.2");
  entry.image.needs.driver = Version("580.65.06");
  entry.image.facts.clear();
  entry.image.components.push_back({"toolchain", "python", Version("3.12"), "distro", false});
  const Json data = data_of({entry});
  const auto word = [&](std::size_t place) {
    return data["words"][data["rows"][0][place].get<std::size_t>()];
  };
  EXPECT_EQ(word(12), "3.12");
  EXPECT_EQ(word(13), "13.0.2");
  EXPECT_EQ(word(14), "580.65.06");
}

TEST(CatalogueData, ADoubtfulSpeedSaysWhy) {
  IndexEntry entry = sample_entry(0);
  entry.measurements.resize(1);
  Measurement& speed = entry.measurements[0];
  speed.median = 100, speed.low = 99, speed.high = 101, speed.busy = 0;
  const auto doubt = [&] {
    const Json data = data_of({entry});
    return data["words"][data["rows"][0][11][0][6].get<std::size_t>()];
  };
  EXPECT_EQ(doubt(), "");
  speed.high = 140;
  EXPECT_EQ(doubt(), "quartiles 41 % apart");
}

struct Bills : PageSource {
  std::map<std::string, std::string> bills;  // by the image's name
  std::optional<PageDocument> document(const ImageRecord& image, const std::string& kind) const override {
    const auto found = bills.find(image.name());
    if (kind != "spdx" || found == bills.end()) return std::nullopt;
    return PageDocument{found->second};
  }
  std::optional<DefinitionFiles> definitions(const ImageRecord&) const override { return std::nullopt; }
  std::vector<TagSpan> history(const std::string&, const std::string&) const override { return {}; }
  std::optional<std::string> night(const std::string&, std::int64_t) const override { return std::nullopt; }
};

TEST(PackagesData, HasASetOfPackagesForEachRow) {
  std::vector<IndexEntry> entries;
  for (const char* tag : {"a", "b", "c", "d"}) {
    entries.push_back(sample_entry(0));
    entries.back().image.tag = tag;
    entries.back().image.manifest = Digest::of(tag);
  }
  Bills source;
  source.bills["pytorch:a"] = source.bills["pytorch:c"] =
      R"({"packages": [{"name": "numpy", "versionInfo": "2.5.5"}, {"name": "zlib1g", "versionInfo": "1:1.3"}]})";
  source.bills["pytorch:b"] = "{";
  const PageContent content{1, {}, entries};
  const std::string text = packages_data(content, source);
  constexpr std::string_view kStart = "window.kilnPackages = ", kEnd = ";\n";
  ASSERT_TRUE(text.starts_with(kStart) && text.ends_with(kEnd));
  const Json data = Json::parse(text.substr(kStart.size(), text.size() - kStart.size() - kEnd.size()));
  EXPECT_EQ(data["words"], Json({"numpy 2.5.5", "zlib1g 1:1.3"}));
  EXPECT_EQ(data["sets"], Json::parse("[[0,1]]"));
  EXPECT_EQ(data["of"], Json::parse("[0,-1,0,-1]"));
}

TEST(CatalogueData, HostileNamesStayOneStringEach) {
  const std::string name = "</script><script>alert(1)//\u2028\u202E\"'\\";
  const Json data = data_of({sample_mapping("c", name)});
  EXPECT_EQ(data["rows"][0][0], "</script><script>alert(1)//[U+2028][U+202E]\"'\\");
  PageContent content{1, {}, {sample_mapping("c", name)}};
  const std::string text = catalogue_data(content, PageNames(content.entries));
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
}

TEST(SpeedTable, StandsTogetherByWorkloadUnitAndHost) {
  std::vector<IndexEntry> entries = {sample_entry(0), sample_entry(0), sample_entry(0)};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].image.tag = "image-" + std::to_string(i);
    entries[i].measurements.resize(1);
    entries[i].measurements[0].median = 100.0 - 10.0 * static_cast<double>(i);
  }
  entries[1].measurements[0].host.model = "another";
  const PageNames names(entries);
  const SpeedTable table(entries);
  const std::string html = table.html(0, entries, names);
  EXPECT_NE(html.find("image-2"), std::string::npos);
  EXPECT_EQ(html.find("image-1"), std::string::npos);     // measured on another host
  EXPECT_LT(html.find("image-2"), html.find("image-0"));  // less is better
  EXPECT_NE(html.find("ms/step, less is better"), std::string::npos);
  entries[0].measurements.clear();
  EXPECT_EQ(SpeedTable(entries).html(0, entries, names), "");
}

TEST(SpeedTable, TheImageItselfIsThereHoweverSlow) {
  std::vector<IndexEntry> entries;
  for (int i = 0; i < 40; ++i) {
    entries.push_back(sample_entry(0));
    entries.back().image.tag = "image-" + std::to_string(i);
    entries.back().measurements.resize(1);
    entries.back().measurements[0].median = 10.0 + i;
  }
  const std::string html = SpeedTable(entries).html(39, entries, PageNames(entries));
  EXPECT_NE(html.find("image-39</bdi> <span class=\"badge\">this image"), std::string::npos);
  EXPECT_NE(html.find("27 more were measured here"), std::string::npos);
}

}  // namespace
}  // namespace kiln
