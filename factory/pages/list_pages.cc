#include "factory/pages/list_pages.h"

#include <fmt/format.h>

#include <array>

#include "factory/base/text.h"
#include "factory/pages/page_frame.h"
#include "factory/pages/page_text.h"

namespace kiln {
namespace {

struct Facet {
  std::string_view id, label;
};
constexpr std::array<Facet, 9> kFacets = {{{"framework", "Framework or application"},
                                           {"version", "Version"},
                                           {"compiler", "Graph compiler"},
                                           {"target", "Processor"},
                                           {"accelerator", "Accelerator"},
                                           {"python", "Python"},
                                           {"cuda", "CUDA"},
                                           {"speed", "Proven speed"},
                                           {"state", "State"}}};

// A column and, where the rows can be ordered by it, its name in assets/catalogue.js.
struct Column {
  std::string_view title, order;
};
constexpr std::array<Column, 10> kColumns = {{{"Image", "name"},
                                              {"Version", "version"},
                                              {"Compilers", ""},
                                              {"Target", "target"},
                                              {"Python", "python"},
                                              {"CUDA", "cuda"},
                                              {"Driver", "driver"},
                                              {"Measured", "speed"},
                                              {"Size", "size"},
                                              {"Published", "created"}}};

std::string filters_html() {
  std::string html =
      "<form id=\"filters\" class=\"filters\" role=\"search\" aria-label=\"Images\"><label "
      "for=\"query\">Search</label><input type=\"search\" id=\"query\" "
      "spellcheck=\"false\" "
      "aria-describedby=\"query-hint\"><p class=\"hint\" id=\"query-hint\">Parts of names; press / to come "
      "here.</p>\n<label for=\"package\">Installed package</label><input type=\"search\" id=\"package\" "
      "spellcheck=\"false\" aria-describedby=\"package-hint\"><p class=\"hint\" id=\"package-hint\" "
      "role=\"status\">numpy, or numpy 2.5: any package of the bills of materials.</p>\n<details "
      "id=\"more-filters\"><summary>Filters</summary><div class=\"filter-grid\">\n";
  for (const Facet& facet : kFacets)
    html += fmt::format("<div><label for=\"{0}\">{1}</label><select id=\"{0}\"></select></div>\n", facet.id,
                        facet.label);
  return html + "</div></details></form>\n";
}

std::string results_html() {
  std::string html =
      "<div><div class=\"result-bar\"><p id=\"count\" role=\"status\"></p><button type=\"button\" "
      "id=\"clear\" "
      "hidden>Clear filters</button><a id=\"compare\" class=\"button\" href=\"compare.html\" hidden>Compare "
      "the two</a></div>\n<p id=\"caution\" class=\"soft\" role=\"status\"></p>\n<div "
      "id=\"results\" tabindex=\"-1\"><table "
      "role=\"table\"><caption>"
      "Images of the catalogue</caption><thead role=\"rowgroup\"><tr role=\"row\">";
  for (const Column& column : kColumns)
    html += column.order.empty()
                ? fmt::format("<th scope=\"col\" role=\"columnheader\">{}</th>", column.title)
                : fmt::format(
                      "<th scope=\"col\" role=\"columnheader\"><button type=\"button\" "
                      "data-sort=\"{}\">{}</button></th>",
                      column.order, column.title);
  return html +
         "</tr></thead><tbody id=\"rows\" role=\"rowgroup\"></tbody></table></div>\n"
         "<div id=\"empty\" class=\"empty-state\" hidden><p>No image is like that.</p><button "
         "type=\"button\" "
         "id=\"clear-empty\">Clear filters</button></div>\n"
         "<nav id=\"pager\" class=\"pager\" aria-label=\"Pages of the catalogue\" hidden><button "
         "type=\"button\" "
         "id=\"previous\">Previous</button><span id=\"where\"></span><button type=\"button\" "
         "id=\"next\">Next</button></nav></div>\n";
}

std::string nothing_published() {
  return "<div class=\"empty-state\"><p><strong>Nothing was published yet.</strong></p><p><code>kiln "
         "publish</code> puts images into the catalogue.</p></div>\n";
}

std::string night_rows(const std::vector<NightRow>& nights) {
  std::string rows;
  for (const NightRow& night : nights) {
    const std::string_view kind = night.state == "green" ? "good" : night.state == "red" ? "bad" : "care";
    rows += fmt::format(
        "<tr><th scope=\"row\"><a href=\"{}\">{}, night {}</a></th><td><span class=\"badge "
        "{}\">{}</span></td>"
        "<td>{}</td><td>{}</td></tr>\n",
        night_path(night.matrix, night.number), page_text(night.matrix), night.number, kind,
        page_text(night.state), page_text(night.started), page_text(night.headline));
  }
  return rows;
}

}  // namespace

std::string catalogue_page(const PageContent& content) {
  std::string main = "<h1>Catalogue</h1>\n";
  PageFrame frame{"index.html", "Catalogue · kiln", ""};
  if (content.entries.empty()) {
    main += nothing_published();
  } else {
    main += fmt::format(
        "<noscript><p class=\"notice care\">Search and filters need JavaScript, which is switched off here. "
        "<a href=\"images.html\">All {} as a list</a>; the pages of images need none.</p></noscript>\n"
        "<div id=\"catalogue\" class=\"layout\" hidden>\n{}{}</div>\n",
        counted(content.entries.size(), "image"), filters_html(), results_html());
    frame.scripts = {"data.js", "assets/rows.js", "assets/catalogue.js"};
  }
  frame.main = std::move(main);
  return framed(frame, content);
}

std::string compare_page(const PageContent& content) {
  std::string main =
      "<h1>Compare two images</h1>\n<noscript><p class=\"notice care\">The comparison needs JavaScript, "
      "which is "
      "switched off here. <code>kiln diff A B</code> needs none.</p></noscript>\n";
  PageFrame frame{"compare.html", "Compare two images · kiln", ""};
  if (content.entries.empty()) {
    main += nothing_published();
  } else {
    main +=
        "<form id=\"pair\" class=\"fields\" aria-label=\"The two images\"><div><label for=\"a\">First "
        "image</label><input type=\"text\" id=\"a\" list=\"images\" spellcheck=\"false\" "
        "autocomplete=\"off\"></div><div><label for=\"b\">Second image</label><input type=\"text\" id=\"b\" "
        "list=\"images\" spellcheck=\"false\" autocomplete=\"off\"></div></form>\n<datalist "
        "id=\"images\"></datalist>\n<p id=\"said\" class=\"soft\" role=\"status\"></p>\n<div "
        "id=\"comparison\"></div>\n";
    frame.scripts = {"data.js", "assets/rows.js", "assets/compare.js"};
  }
  frame.main = std::move(main);
  return framed(frame, content);
}

std::string all_images_page(const PageContent& content, const PageNames& names) {
  std::string main =
      fmt::format("<h1>All images</h1>\n<p>{}.</p>\n", counted(content.entries.size(), "image"));
  std::string list;
  for (const IndexEntry& entry : content.entries)
    list += fmt::format("<li><a href=\"{}\"><bdi>{}</bdi></a></li>\n", image_path(entry.image),
                        page_text(names(entry.image)));
  main += list.empty() ? nothing_published() : "<ul>\n" + list + "</ul>\n";
  return framed({"images.html", "All images · kiln", main}, content);
}

std::string nights_page(const PageContent& content) {
  std::string main = "<h1>Nights</h1>\n";
  main += content.nights.empty()
              ? "<div class=\"empty-state\"><p><strong>No night has ended yet.</strong></p><p><code>kiln "
                "nightly</code> rebuilds a catalogue and reports what became of it.</p></div>\n"
              : wide_table("Nights, newest first", {"Night", "State", "Began", "In one sentence"},
                           night_rows(content.nights));
  return framed({"nights.html", "Nights · kiln", main}, content);
}

}  // namespace kiln
