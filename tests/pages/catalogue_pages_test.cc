#include "factory/pages/catalogue_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "factory/pages/page_frame.h"
#include "pages/page_samples.h"

namespace kiln {
namespace {

using testing::has;
using testing::sample_entry;
using testing::sample_mapping;

// Everything that a source may have, for every image.
struct FixedSource : PageSource {
  std::map<std::string, PageDocument> documents;
  std::optional<DefinitionFiles> files;
  std::vector<TagSpan> spans;
  std::string report =
      "<!doctype html>\n<html lang=\"en\"><head><style>p{}</style></head><body><main>x</main></body></html>";

  std::optional<PageDocument> document(const ImageRecord&, const std::string& kind) const override {
    const auto found = documents.find(kind);
    return found == documents.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<DefinitionFiles> definitions(const ImageRecord&) const override { return files; }
  std::vector<TagSpan> history(const std::string&, const std::string&) const override { return spans; }
  std::optional<std::string> night(const std::string&, std::int64_t number) const override {
    return number == 9 ? std::nullopt : std::optional(report);
  }
};

PageContent content_of(std::vector<IndexEntry> entries) {
  PageContent content{3,
                      {{3, "2026-11-22T04:00:00Z", "", 0, true}, {2, "2026-11-21T04:00:00Z", "", 0, false}},
                      std::move(entries)};
  content.nights = {{"demo", 2, "red", "2026-11-21T01:00:00Z", "demo, night 2: red"}};
  return content;
}

std::string page_of(const IndexEntry& entry, const FixedSource& source = {}) {
  return CataloguePages(content_of({entry}), source).page(image_path(entry.image))->bytes;
}

TEST(CataloguePages, ThereIsAPageForEachPath) {
  const FixedSource source;
  const CataloguePages pages(
      content_of({sample_entry(0), sample_entry(1), sample_mapping("m", "docker://a/b")}), source);
  const std::vector<std::string> paths = pages.paths();
  EXPECT_TRUE(std::is_sorted(paths.begin(), paths.end()));
  for (const std::string& path : paths) {
    const auto page = pages.page(path);
    ASSERT_TRUE(page) << path;
    EXPECT_FALSE(page->bytes.empty()) << path;
    EXPECT_EQ(page->media_type.starts_with("text/html"), path.ends_with(".html")) << path;
    EXPECT_EQ(page->media_type.starts_with("text/javascript"), path.ends_with(".js")) << path;
    EXPECT_EQ(page->bytes, pages.page(path)->bytes) << path;
  }
  EXPECT_EQ(pages.page("")->bytes, pages.page("index.html")->bytes);
}

std::string first_question(std::vector<IndexEntry> entries) {
  const FixedSource source;
  return CataloguePages(content_of(std::move(entries)), source).page("ask.html")->bytes;
}

// The form asks for what an image of the catalogue is.
TEST(CataloguePages, TheFirstQuestionHasAnAnswer) {
  IndexEntry gpu = sample_entry(0), plain = sample_entry(0);
  gpu.image.application = "jax";
  gpu.image.accelerators = {"nvidia:sm_90"};
  gpu.image.components = {{"framework", "jax", Version("1"), "pip", false},
                          {"compiler", "xla", {}, "pip", false}};
  const std::string of_gpu = first_question({gpu});
  for (const char* words : {"value=\"jax\"", "<option value=\"nvidia\" selected>", "value=\"xla\" checked",
                            "<option value=\"ai\" selected>", "<option value=\"yes\" selected>"})
    EXPECT_TRUE(has(of_gpu, words)) << words;
  plain.image.application = "pytorch";
  plain.image.accelerators = {};
  plain.image.components = {{"framework", "pytorch", Version("1"), "pip", false}};
  const std::string of_both = first_question({gpu, plain});
  EXPECT_TRUE(has(of_both, "id=\"application\" list=\"applications\" value=\"pytorch\"")) << "the plainest";
  EXPECT_FALSE(has(of_both, "checked"));
  EXPECT_FALSE(has(of_both, "\"nvidia\" selected"));
  plain.retired = "wrong";
  EXPECT_TRUE(has(first_question({plain, gpu}), "applications\" value=\"jax\"")) << "the other is retired";
  const std::string mapped = first_question({sample_mapping("a", "docker://o/i")});
  EXPECT_TRUE(has(mapped, "<option value=\"hpc\" selected>"));
  EXPECT_TRUE(has(mapped, "<option value=\"no\" selected>")) << "it is a stock image";
  EXPECT_FALSE(has(first_question({}), "applications\" value="));
}

TEST(CataloguePages, ThereIsNoOtherPage) {
  const FixedSource source;
  const CataloguePages pages(content_of({sample_entry(0)}), source);
  for (const char* path : {"/", "/index.html", "../index.html", "assets/", "assets/../index.html",
                           "images/pytorch/", "images/pytorch/none.html", "nights/demo/1.html",
                           "nights/demo/2.html/", "index.html?x", "INDEX.HTML"})
    EXPECT_FALSE(pages.page(path)) << path;
  EXPECT_FALSE(pages.page(std::string("index.html\0", 11)));
}

TEST(CataloguePages, EveryPageHasItsPolicyFirst) {
  const FixedSource source;
  const CataloguePages pages(content_of({sample_entry(0)}), source);
  for (const std::string& path : pages.paths()) {
    if (!path.ends_with(".html")) continue;
    const std::string html = pages.page(path)->bytes;
    const std::size_t policy = html.find("Content-Security-Policy\" content=\"default-src 'none'; ");
    ASSERT_NE(policy, std::string::npos) << path;
    for (const char* element : {"<script", "<link", "<style"}) EXPECT_LT(policy, html.find(element)) << path;
    EXPECT_FALSE(has(html, "unsafe")) << path;
    EXPECT_EQ(has(html, "connect-src 'self'"), path == "ask.html") << path;
  }
}

TEST(CataloguePages, TheReportOfANightKeepsItsStyleAndNothingElse) {
  const std::string html = CataloguePages(content_of({}), FixedSource{}).page("nights/demo/2.html")->bytes;
  EXPECT_TRUE(has(html, "style-src '" + policy_hash("p{}") + "'"));
  EXPECT_FALSE(has(html, "script-src"));
  EXPECT_TRUE(has(html, "<main><p><a href=\"../../nights.html\">"));
}

TEST(CataloguePages, PolicyHashesAreThoseThatBrowsersMake) {
  // printf %s "alert('Hello, world.');" | openssl dgst -sha256 -binary | base64: the example of CSP 3.
  EXPECT_EQ(policy_hash("alert('Hello, world.');"), "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=");
}

TEST(ImagePage, SaysWhenItWasPublished) {
  IndexEntry entry = sample_entry(0);
  entry.image.created = "1980-01-01T00:00:00Z";  // as reproducible images say
  EXPECT_FALSE(has(page_of(entry), "1980"));
  PageContent content = content_of({entry});
  content.published[entry.image.identity().hex()] = "2026-11-21T04:00:00Z";
  const FixedSource source;
  const std::string html = CataloguePages(content, source).page(image_path(entry.image))->bytes;
  EXPECT_TRUE(has(html, "<dt>Published</dt><dd>2026-11-21T04:00:00Z</dd>"));
}

TEST(ImagePage, ExplainsTheEvidence) {
  IndexEntry entry = sample_entry(0);
  entry.image.evidence.verdict = "conforms";
  entry.image.evidence.target = "zen4";
  const std::string html = page_of(entry);
  for (const char* words :
       {"<span class=\"badge good\">code fits zen4</span>",
        "No code that every run executes needs more than zen4 has.", "Used by every run",
        "Used where the host has it", "symbols up to 2.38; the host&#39;s glibc does not matter"})
    EXPECT_TRUE(has(html, words)) << words;
  entry.image.evidence.verdict = "exceeds";
  EXPECT_TRUE(has(page_of(entry), "<span class=\"badge care\">evidence: exceeds</span>"));
}

TEST(ImagePage, LeadsToTheComparison) {
  const IndexEntry entry = sample_entry(0);
  EXPECT_TRUE(has(page_of(entry), "<a href=\"../../compare.html#a=" + image_path(entry.image) + "\">"));
}

TEST(ImagePage, SaysWhatIsWrongWithIt) {
  IndexEntry entry = sample_entry(0);
  EXPECT_FALSE(has(page_of(entry), "class=\"notice"));
  entry.stale = true;
  entry.failing = true;
  entry.retired = "wrong <results>";
  const std::string html = page_of(entry);
  for (const char* words : {"<strong>Stale</strong>", "<strong>Failing</strong>", "wrong &lt;results&gt;"})
    EXPECT_TRUE(has(html, words)) << words;
}

TEST(ImagePage, ShowsDocumentsAndWhatOfThemIsDamaged) {
  FixedSource source;
  EXPECT_TRUE(has(page_of(sample_entry(0), source), "It has none: it was built before kiln made them."));
  source.documents["spdx"] = {R"({"packages": [{"name": "zlib1g", "licenseDeclared": "Zlib"}]})"};
  source.documents["provenance"] = {"", "sha256:12 is damaged"};
  source.files = DefinitionFiles{"FROM debian\nRUN a && b", "Bootstrap: docker"};
  const std::string html = page_of(sample_entry(0), source);
  for (const char* words :
       {"Zlib", "The provenance could not be read: sha256:12 is damaged", "FROM debian\nRUN a &amp;&amp; b",
        "Bootstrap: docker", "kiln generate -f matrix/current.json"})
    EXPECT_TRUE(has(html, words)) << words;
  EXPECT_FALSE(has(html, "are not kept"));
}

TEST(ImagePage, HistoryIsNewestFirst) {
  FixedSource source;
  const IndexEntry entry = sample_entry(0);
  source.spans = {{1, 1, std::string(64, 'a')}, {2, 3, entry.image.identity().hex(), true}};
  const std::string html = page_of(entry, source);
  const std::size_t now = html.find("<th scope=\"row\">2 to 3</th>"),
                    before = html.find("<th scope=\"row\">1</th>");
  ASSERT_NE(before, std::string::npos);
  EXPECT_LT(now, before);
  EXPECT_TRUE(has(html, "2026-11-21T04:00:00Z"));
  EXPECT_TRUE(has(html, "sha256:aaaaaaaaaaaa"));
}

TEST(ImagePage, OfAMappingSaysNoMoreThanIsKnown) {
  IndexEntry entry = sample_mapping("<code>", "docker://ethcscs/openmpi:3.1.3");
  entry.image.selectors = {{"library", "openmpi"}};
  const std::string html = page_of(entry);
  EXPECT_TRUE(has(html, "library = openmpi"));
  EXPECT_TRUE(has(html, "&lt;code&gt;"));
  for (const char* title :
       {">Evidence<", ">Bill of materials<", ">Tests<", ">Compiler flags<", ">Definition files<"})
    EXPECT_FALSE(has(html, title)) << title;
}

TEST(ImagePage, NamesWhereItWasTested) {
  IndexEntry entry = sample_entry(0);
  EXPECT_TRUE(has(page_of(entry), "nid0412 (x86_64_v3)"));
  entry.image.tests->not_run["pytorch 2.0.0 (pip)"] = "there is no GPU here";
  EXPECT_TRUE(has(page_of(entry), "Not tested in full"));
  entry.image.tests.reset();
  EXPECT_TRUE(has(page_of(entry), "Nothing was kept of its tests."));
}

}  // namespace
}  // namespace kiln
