#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/pages/page_frame.h"
#include "factory/pages/pages.h"
#include "factory/record/gpu_code.h"

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
        night_path(night.matrix, night.number), markup_text(night.matrix), night.number, kind,
        markup_text(night.state), markup_text(night.started), markup_text(night.headline));
  }
  return rows;
}

constexpr std::size_t kMostHosts = 24;  // that the ladder asks for, one question each

// What the images of the snapshot have, for the form to offer.
struct Offers {
  std::set<std::string> applications, compilers, methods, workloads, hosts;
  const ImageRecord* first = nullptr;  // that the first question is about, so that it has an answer
};

bool is_framework(const ImageRecord& image) {
  return std::ranges::count(image.components, "framework", &ComponentRecord::kind) > 0;
}

std::size_t compilers_in(const ImageRecord& image) {
  return static_cast<std::size_t>(std::ranges::count(image.components, "compiler", &ComponentRecord::kind));
}

// Whether a question about `a` needs fewer words than one about `b`. An optimised build is asked for, which a
// mapping to a stock image is no answer to.
bool is_plainer(const ImageRecord& a, const ImageRecord& b) {
  auto words = [](const ImageRecord& image) {
    return std::tuple(image.external(), !is_framework(image), !image.accelerators.empty(),
                      compilers_in(image));
  };
  return words(a) < words(b);
}

Offers offers_of(const std::vector<IndexEntry>& entries) {
  Offers offers;
  for (const IndexEntry& entry : entries) {
    const ImageRecord& image = entry.image;
    if (!image.application.empty()) offers.applications.insert(image.application);
    const bool is_had = !image.application.empty() && !entry.failing && entry.retired.empty();
    if (is_had && (offers.first == nullptr || is_plainer(image, *offers.first))) offers.first = &image;
    if (!image.method.empty()) offers.methods.insert(image.method);
    for (const ComponentRecord& part : image.components)
      if (part.kind == "compiler") offers.compilers.insert(part.name);
    for (const Measurement& speed : entry.measurements) offers.workloads.insert(speed.workload);
    std::string host = image.cpu;
    for (const std::string& accelerator : image.accelerators) host += "," + accelerator;
    if (!image.cpu.empty() && offers.hosts.size() < kMostHosts) offers.hosts.insert(host);
  }
  return offers;
}

std::string datalist(std::string_view id, const std::set<std::string>& words) {
  std::string html = fmt::format("<datalist id=\"{}\">", id);
  for (const std::string& word : words)
    html += fmt::format("<option value=\"{}\"></option>", markup_text(word));
  return html + "</datalist>\n";
}

std::string text_field(std::string_view id, std::string_view label, std::string_view list,
                       std::string_view hint, std::string_view value = "") {
  return fmt::format(
      "<div><label for=\"{0}\">{1}</label><input type=\"text\" id=\"{0}\"{2}{4} "
      "spellcheck=\"false\" aria-describedby=\"{0}-hint\"><p class=\"hint\" id=\"{0}-hint\">{3}</p></div>\n",
      id, label, list.empty() ? "" : fmt::format(" list=\"{}\"", list), hint,
      value.empty() ? "" : fmt::format(" value=\"{}\"", markup_text(value)));
}

// `options`: value and words in turn; `chosen`: a value.
std::string choice_field(std::string_view id, std::string_view label,
                         const std::vector<std::pair<std::string, std::string>>& options,
                         std::string_view chosen = "") {
  std::string html = fmt::format("<div><label for=\"{0}\">{1}</label><select id=\"{0}\">", id, label);
  for (const auto& [value, words] : options)
    html += fmt::format("<option value=\"{}\"{}>{}</option>", markup_text(value),
                        !value.empty() && value == chosen ? " selected" : "", markup_text(words));
  return html + "</select></div>\n";
}

std::string compilers_field(const std::set<std::string>& compilers, const std::set<std::string>& chosen) {
  if (compilers.empty()) return "";
  std::string html =
      "<fieldset class=\"all\" id=\"compilers\"><legend>Graph compilers, exactly these</legend><div "
      "class=\"choices\">";
  for (const std::string& compiler : compilers)
    html += fmt::format("<label><input type=\"checkbox\" value=\"{0}\"{1}> {0}</label>",
                        markup_text(compiler), chosen.contains(compiler) ? " checked" : "");
  return html + "</div></fieldset>\n";
}

// What the form shows to begin with.
struct FirstQuestion {
  std::string kind, application, build, accelerator;
  std::set<std::string> compilers;
};

FirstQuestion first_question(const ImageRecord* image) {
  FirstQuestion first;
  if (image == nullptr) return first;
  first.kind = is_framework(*image) || compilers_in(*image) > 0 ? "ai" : "hpc";
  first.build = image->external() && !image->optimised ? "no" : "yes";
  first.application = image->application;
  if (!image->accelerators.empty()) first.accelerator = split_accelerator(image->accelerators.front()).first;
  for (const ComponentRecord& part : image->components)
    if (part.kind == "compiler") first.compilers.insert(part.name);
  return first;
}

std::string job_fields() {
  std::string html =
      text_field("program", "Program of the job", "",
                 "./train.sh --epochs 5: what the job script runs; empty: the image's own program");
  html += choice_field("scheduler", "Scheduler of the job",
                       {{"", "the infrastructure's, else none"},
                        {"slurm", "Slurm"},
                        {"torque", "Torque"},
                        {"openpbs", "OpenPBS"},
                        {"bash", "none: plain bash"}});
  html += text_field("infrastructure", "Infrastructure of the job", "",
                     "Its name in the index; empty: the job names no machines");
  return html;
}

std::string form_html(const Offers& offers) {
  const FirstQuestion first = first_question(offers.first);
  std::vector<std::pair<std::string, std::string>> methods = {{"", "any"}};
  for (const std::string& method : offers.methods) methods.emplace_back(method, method);
  std::string html = "<form id=\"form\" class=\"fields\" aria-label=\"The question\">\n";
  html += choice_field("kind", "What runs",
                       {{"ai", "an AI framework"}, {"hpc", "an HPC application, or an MPI"}}, first.kind);
  html += text_field("application", "Framework or application", "applications",
                     "For example pytorch or gromacs", first.application);
  html += text_field("version", "Version", "", "2.6, &gt;=2.1, ~=2.1.3; empty: any");
  html += choice_field("build", "Build", {{"yes", "optimised for its target"}, {"no", "stock, as published"}},
                       first.build);
  html += choice_field(
      "cpu-type", "Processor family",
      {{"", "not said"}, {"x86", "x86"}, {"amd", "x86 by AMD"}, {"arm", "Arm"}, {"power", "Power"}});
  html += choice_field("acc-type", "Accelerator", {{"", "none"}, {"nvidia", "NVIDIA"}, {"amd", "AMD"}},
                       first.accelerator);
  html += choice_field("method", "Install method", methods);
  html += text_field("workload", "Workload whose speed counts", "workloads", "Empty: the one that most have");
  html += compilers_field(offers.compilers, first.compilers);
  html +=
      text_field("host", "Host", "hosts", "zen4,nvidia:sm_90: what the job runs on; any: nothing is known");
  html += job_fields();
  html += "</form>\n" + datalist("applications", offers.applications) +
          datalist("workloads", offers.workloads) + datalist("hosts", offers.hosts);
  return html;
}

constexpr std::string_view kDocument =
    "<div class=\"drop\" id=\"drop\"><label for=\"document\">The question as a document</label>"
    "<p class=\"hint\" id=\"document-hint\">The form writes it. Drop a DSL file here, open one, or edit "
    "it.</p>"
    "<textarea id=\"document\" spellcheck=\"false\" aria-describedby=\"document-hint\"></textarea>\n"
    "<p><label class=\"button\" for=\"file\">Open a file</label> <input type=\"file\" id=\"file\" "
    "class=\"unseen\" "
    "accept=\".json,application/json\"> <span id=\"file-said\" role=\"status\"></span></p></div>\n";

constexpr std::string_view kAnswer =
    "<div><p class=\"notice care\" id=\"from-file\" hidden><strong>This page was opened from a file, so it "
    "can ask no server.</strong> Below are the commands that ask and that write the job script. Served by "
    "<code>kiln serve</code>, the page shows the answer and the script itself.</p>\n"
    "<div id=\"served\" hidden><p><button type=\"submit\" form=\"form\" class=\"main\" "
    "id=\"ask\">Ask</button> "
    "<button type=\"button\" id=\"job\">Write the job script</button> "
    "<button type=\"button\" id=\"ladder\">What would other hosts get?</button></p></div>\n"
    "<div id=\"answer\" role=\"status\"></div><div id=\"rungs\"></div>\n"
    "<div id=\"job-said\" role=\"status\"></div>\n"
    "<figure class=\"copy\" id=\"job-script\" hidden><figcaption>The job script</figcaption><pre><code "
    "id=\"script\"></code></pre></figure>\n"
    "<figure class=\"copy\"><figcaption>The command that asks</figcaption><pre><code "
    "id=\"command\"></code></pre></figure>\n"
    "<figure class=\"copy\"><figcaption>The command that writes the job script</figcaption><pre><code "
    "id=\"job-command\"></code></pre></figure></div>\n";

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
                        markup_text(names(entry.image)));
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

std::string ask_page(const PageContent& content) {
  std::string main =
      "<h1>Ask for an image</h1>\n<p>Which image is the best for a job on its host? <code>kiln select</code> "
      "answers, "
      "with its reasons.</p>\n<noscript><p class=\"notice care\">This form needs JavaScript, which is "
      "switched off "
      "here. <code>kiln select --dsl job.json --explain</code> needs none.</p></noscript>\n";
  main += fmt::format("<div class=\"ask\"><div>\n{}{}</div>\n{}</div>\n",
                      form_html(offers_of(content.entries)), kDocument, kAnswer);
  PageFrame frame{
      "ask.html", "Ask for an image · kiln", std::move(main), {"assets/page.js", "assets/ask.js"}};
  frame.asks = true;
  return framed(frame, content);
}

}  // namespace kiln
