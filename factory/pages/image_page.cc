#include "factory/pages/image_page.h"

#include <fmt/format.h>

#include <vector>

#include "factory/pages/image_sections.h"
#include "factory/pages/page_frame.h"
#include "factory/pages/page_text.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

struct Part {
  std::string_view id, title;
  std::string content;
};

std::string badge(std::string_view kind, const std::string& words) {
  return fmt::format("<li><span class=\"badge {}\">{}</span></li>", kind, page_text(words));
}

std::string badges_of(const IndexEntry& entry) {
  const ImageRecord& image = entry.image;
  std::string html = "<ul class=\"badges\" aria-label=\"In short\">";
  html += badge("", build_words(entry));
  if (!image.cpu.empty()) html += badge("", image.cpu);
  for (const std::string& accelerator : image.accelerators) html += badge("", accelerator);
  if (!image.evidence.verdict.empty())
    html += image.evidence.verdict == "conforms"
                ? badge("good",
                        "code fits " + (image.evidence.target.empty() ? "its target" : image.evidence.target))
                : badge("care", "evidence: " + image.evidence.verdict);
  if (entry.stale) html += badge("care", "stale");
  if (entry.failing) html += badge("bad", "failing");
  if (!entry.retired.empty()) html += badge("bad", "retired");
  return html + "</ul>\n";
}

// What a reader must not miss before the commands.
std::string warnings_of(const IndexEntry& entry) {
  std::string html;
  const auto add = [&html](std::string_view kind, const std::string& words) {
    html += fmt::format("<p class=\"notice {}\">{}</p>\n", kind, words);
  };
  if (!entry.retired.empty())
    add("bad", "<strong>Retired</strong>, and no longer selected: " + page_text(entry.retired));
  if (entry.failing)
    add("bad", "<strong>Failing</strong>: its bits fail a test that their recipe has by now.");
  if (entry.stale)
    add("care", "<strong>Stale</strong>: its rebuild failed, and this is the image of an earlier snapshot.");
  return html;
}

std::string fact(std::string_view word, const std::string& value) {
  return value.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", word, page_text(value));
}

std::string size_words(std::uint64_t bytes) {
  if (bytes == 0) return "";
  return bytes < 1'000'000 ? fmt::format("{:.0f} kB, compressed", static_cast<double>(bytes) / 1e3)
                           : fmt::format("{:.1f} MB, compressed", static_cast<double>(bytes) / 1e6);
}

std::string facts_of(const IndexEntry& entry, const PageContent& content) {
  const ImageRecord& image = entry.image;
  std::vector<std::string> compilers;
  for (const ComponentRecord& component : image.components)
    if (component.kind == "compiler") compilers.push_back(component.name + " " + component.version.text());
  std::string html = "<dl class=\"facts\">\n";
  html += fact("Application", image.application + " " + image.version.text());
  html += fact("Install method", image.method);
  html += fact("Graph compilers", image.external() && compilers.empty() ? ""
                                  : compilers.empty()                   ? "none"
                                                      : fmt::format("{}", fmt::join(compilers, ", ")));
  html += fact("Processor", image.cpu);
  html += fact("Accelerators",
               image.accelerators.empty() ? "none" : fmt::format("{}", fmt::join(image.accelerators, ", ")));
  html += fact("Size", size_words(image.size));
  html += fact("Published", content.published_at(image));
  html += fact("Published by", fmt::format("{}", fmt::join(entry.matrices, ", ")));
  return html + "</dl>\n";
}

std::string lead_of(const ImageRecord& image) {
  std::string html;
  for (const char* label : {"org.opencontainers.image.title", "org.opencontainers.image.description"})
    if (auto found = image.labels.find(label); found != image.labels.end())
      html += fmt::format("{}{}", html.empty() ? "" : ". ", page_text(found->second));
  return html.empty() ? "" : "<p class=\"lead\">" + html + "</p>\n";
}

std::string contents_of(const std::vector<Part>& parts) {
  std::string html = "<nav class=\"contents\" aria-label=\"On this page\"><ul>";
  for (const Part& part : parts)
    if (!part.content.empty()) html += fmt::format("<li><a href=\"#{}\">{}</a></li>", part.id, part.title);
  return html + "</ul></nav>\n";
}

}  // namespace

std::string image_page(std::size_t number, const PageContent& content, const PageSource& source,
                       const PageNames& names, const SpeedTable& speeds) {
  const IndexEntry& entry = content.entries.at(number);
  const ImageRecord& image = entry.image;
  const auto provenance = source.document(image, "provenance");
  std::string measured = speeds.html(number, content.entries, names);
  if (measured.empty()) measured = "<p>It was not measured. <code>kiln bench</code> does.</p>\n";
  const std::vector<Part> parts = {
      {"run", "Run it", commands_html(image)},
      {"names", "Names", names_html(image)},
      {"speed", "Measured speed", measured},
      {"contents", "What is in it", components_html(image)},
      {"flags", "Compiler flags", all_flags_html(image, provenance)},
      {"evidence", "Evidence", evidence_html(image.evidence)},
      {"tests", "Tests", tests_html(image)},
      {"bill", "Bill of materials", sbom_html(image, source)},
      {"definitions", "Definition files", definitions_html(entry, source, provenance)},
      {"history", "History", history_html(image, content, source)},
      {"labels", "Labels", labels_html(image)},
  };
  const std::string name = names(image);
  std::string main = fmt::format(
      "<div class=\"title\"><p class=\"crumb\"><a "
      "href=\"{}index.html\">Catalogue</a></p>\n<h1><bdi>{}</bdi></h1>\n",
      way_up(image_path(image)), page_text(name));
  main += lead_of(image) + badges_of(entry) + warnings_of(entry) + facts_of(entry, content);
  main += fmt::format("<p><a href=\"{}compare.html#a={}\">Compare with another image</a></p></div>\n",
                      way_up(image_path(image)), page_text(image_path(image)));
  main += "<div class=\"page-columns\">\n" + contents_of(parts) + "<div class=\"parts\">\n";
  for (const Part& part : parts) main += section(part.id, part.title, part.content);
  main += "</div></div>\n";
  return framed({image_path(image), name + " · kiln", main, {"assets/page.js"}}, content);
}

}  // namespace kiln
