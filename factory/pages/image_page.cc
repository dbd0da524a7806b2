#include <fmt/format.h>

#include <vector>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/pages/bill_table.h"
#include "factory/pages/page_frame.h"
#include "factory/pages/pages.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

std::string code(const std::string& text) { return "<code>" + markup_text(text) + "</code>"; }

std::string list_html(const std::vector<std::string>& words) {
  std::string html;
  for (const std::string& word : words) html += (html.empty() ? "" : " ") + code(word);
  return html;
}

// A row of a list of facts; `value` is markup.
std::string fact_row(std::string_view word, const std::string& value) {
  return value.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", word, value);
}

std::string facts_list(const std::string& rows) {
  return rows.empty() ? "" : "<dl class=\"facts wide-facts\">\n" + rows + "</dl>\n";
}

std::string code_if_any(const std::string& text) { return text.empty() ? "" : code(text); }

std::string problem_html(std::string_view what, const PageDocument& document) {
  return fmt::format("<p class=\"doubt\">The {} could not be read: {}</p>\n", what,
                     markup_text(document.problem));
}

std::string names_html(const ImageRecord& image) {
  std::string rows;
  if (image.external()) {
    rows += fact_row("Reference", code(image.reference)) + fact_row("Code in the DSL", code(image.code));
    for (const auto& [name, value] : image.selectors) rows += fact_row("Answers", code(name + " = " + value));
    return facts_list(rows);
  }
  rows += fact_row("Tag", code(image.name()));
  if (!image.immutable_tag.empty())
    rows += fact_row("Tag that never moves", code(image.repository + ":" + image.immutable_tag));
  rows += fact_row("Digest", code(image.manifest.text()));
  if (!image.published.registry.empty()) {
    rows += fact_row("In a registry", code(image.registry_tag()));
    rows += fact_row("There by digest", code(image.registry_digest()));
    rows += fact_row("Its SIF there", code_if_any(image.registry_sif()));
  }
  rows += fact_row("SIF file", code(image.sif_name())) + fact_row("Cell", code_if_any(image.cell)) +
          fact_row("Key", code_if_any(image.key));
  return facts_list(rows);
}

std::string commands_html(const ImageRecord& image) {
  const RunCommands run = run_commands(image);
  std::string html;
  for (const std::string& note : run.notes) html += "<p>" + markup_text(note) + "</p>\n";
  html += "<div class=\"commands\">\n";
  for (const RunCommand& command : run.commands)
    html += copy_block(markup_text(command.engine), command.text);
  return html + "</div>\n";
}

std::string components_html(const ImageRecord& image) {
  std::string rows;
  for (const ComponentRecord& part : image.components)
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        markup_text(part.name), markup_text(part.version.text()), markup_text(part.kind),
                        markup_text(part.method), part.optimised ? "yes" : "");
  std::string html;
  if (!rows.empty())
    html += wide_table("Components", {"Component", "Version", "Kind", "Method", "Beyond stock"}, rows);
  std::string facts;
  for (const auto& [name, value] : image.facts) facts += fact_row(markup_text(name), markup_text(value));
  if (const HostNeeds& needs = image.needs; !needs.empty()) {
    facts += fact_row("Needs a driver of at least", markup_text(needs.driver.text()));
    facts += fact_row("Made with CUDA", markup_text(needs.cuda.text()));
    facts += fact_row("Needs a kernel of at least", markup_text(needs.kernel.text()));
    facts += fact_row("Its glibc", markup_text(needs.glibc.text()));
    facts += fact_row("Its MPI", markup_text(needs.mpi.name));
    facts += fact_row("Needs a processor by", markup_text(needs.vendor));
  }
  return html + facts_list(facts);
}

// `provenance`: of the image, or what is wrong with it.
std::string all_flags_html(const ImageRecord& image, const std::optional<PageDocument>& provenance) {
  if (image.external()) return "";
  std::string html;
  if (provenance && !provenance->problem.empty()) html += problem_html("provenance", *provenance);
  if (provenance && provenance->problem.empty()) html += flags_html(provenance->text);
  if (html.empty() && !image.evidence.flags.empty()) {
    html +=
        "<p>As they were given to the compilers; its provenance does not say where they came from.</p>\n<ul>";
    for (const std::string& line : image.evidence.flags) html += "<li>" + code(line) + "</li>";
    html += "</ul>\n";
  }
  if (html.empty())
    html =
        "<p>No script of it asked for compiler flags: what it holds is as its distribution or its project "
        "compiled it.</p>\n";
  if (provenance && provenance->problem.empty()) html += steps_html(provenance->text);
  return html;
}

// What each verdict means, as in docs/images.md.
std::string verdict_words(const EvidenceRecord& evidence) {
  const std::string target = evidence.target.empty() ? "the target" : evidence.target;
  if (evidence.verdict == "conforms")
    return fmt::format("No code that every run executes needs more than {} has.", target);
  if (evidence.verdict == "exceeds")
    return fmt::format("Some code that every run executes needs more than {} has.", target);
  if (evidence.verdict == "not optimised")
    return fmt::format("The code runs on {}, and uses nothing that {} has beyond the baseline.", target,
                       target);
  if (evidence.verdict == "not judged")
    return "No target was declared, or the code is for a processor that kiln does not read.";
  return "";
}

// A row with a sentence that explains it, where it has a value.
std::string explained_row(std::string_view word, const std::string& value, const std::string& explanation) {
  if (value.empty() || explanation.empty()) return fact_row(word, value);
  return fact_row(word, value + "<br><span class=\"soft\">" + markup_text(explanation) + "</span>");
}

std::string evidence_html(const EvidenceRecord& evidence) {
  if (evidence.empty()) return "";
  std::string rows =
      explained_row("Verdict", markup_text(evidence.verdict), verdict_words(evidence)) +
      fact_row("Declared for", code_if_any(evidence.target)) +
      explained_row("Used by every run", list_html(evidence.unconditional),
                    "Instructions of functions that run on every processor, so the host must have them.") +
      explained_row(
          "Used where the host has it", list_html(evidence.dispatched),
          "Instructions of functions that a program calls only after it asked the processor for them.") +
      fact_row("GPU code", list_html(evidence.gpu)) +
      explained_row("Beyond the target", list_html(evidence.exceeding),
                    "Used by every run, and not in the target.") +
      explained_row(
          "glibc", markup_text(evidence.glibc_provided),
          evidence.glibc.empty()
              ? ""
              : fmt::format("The image brings it. Its programs use symbols up to {}; the host's glibc "
                            "does not matter.",
                            evidence.glibc)) +
      (evidence.glibc_provided.empty() ? fact_row("glibc symbols up to", markup_text(evidence.glibc)) : "") +
      fact_row("Libraries that are missing", list_html(evidence.missing));
  for (const AcceptedRecord& accepted : evidence.accepted)
    rows += fact_row("Accepted beyond the target",
                     code(accepted.file) + " " + markup_text(accepted.by + ": " + accepted.reason));
  for (const auto& [what, file] : evidence.shown_by)
    rows += fact_row(markup_text(what) + " is shown by", code(file));
  return "<p>The findings in the machine code of the image, from its build.</p>\n" + facts_list(rows);
}

std::string tests_html(const ImageRecord& image) {
  if (image.external()) return "";
  if (!image.tests) return "<p>Nothing was kept of its tests.</p>\n";
  const TestsRecord& tests = *image.tests;
  std::string html, rows;
  if (const std::string why = image.why_untested(); !why.empty())
    html += fmt::format("<p class=\"notice care\">Not tested in full: {}</p>\n", markup_text(why));
  const auto add = [&](const std::string& name, const std::string& outcome) {
    const auto run = tests.ran.find(name);
    const bool known = run != tests.ran.end();
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"short\">{}</td><td "
        "class=\"short\">{}</td></tr>\n",
        markup_text(name), outcome, known ? markup_text(run->second.text()) : "not known",
        known ? markup_text(run->second.kernel) : "", known ? markup_text(run->second.at) : "");
  };
  for (const std::string& name : tests.passed) add(name, "passed");
  for (const auto& [name, why] : tests.not_run) add(name, "passed, but not run in full: " + markup_text(why));
  if (rows.empty()) return html + "<p>Its recipes have no test.</p>\n";
  return html + wide_table("Tests, and where they were run",
                           {"Test of", "Outcome", "Where", "Kernel", "When"}, rows);
}

std::string sbom_html(const ImageRecord& image, const PageSource& source) {
  if (image.external()) return "";
  const auto bill = source.document(image, "spdx");
  if (!bill) return "<p>It has none: it was built before kiln made them.</p>\n";
  const std::string html =
      bill->problem.empty() ? bill_html(bill->text) : problem_html("bill of materials", *bill);
  return html + copy_block("The whole document", fmt::format("kiln inspect {} --sbom spdx", image.name()));
}

std::string definitions_html(const IndexEntry& entry, const PageSource& source,
                             const std::optional<PageDocument>& provenance) {
  const ImageRecord& image = entry.image;
  if (image.external()) return "";
  std::string html;
  const auto files = source.definitions(image);
  if (!files) html += "<p>The definition files are not kept with this image.</p>\n";
  const auto add = [&html](std::string_view name, const std::string& text) {
    html += fmt::format(
        "<details><summary>{0}</summary>\n<pre class=\"file\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"{0}\"><code>{1}</code></pre></details>\n",
        name, markup_text(text));
  };
  if (files) {
    add("Dockerfile", files->dockerfile);
    add("Singularity.def", files->singularity);
  }
  if (image.cell.empty()) return html;
  std::string matrix = provenance && provenance->problem.empty() ? matrix_of(provenance->text) : "";
  if (matrix.empty() && !entry.matrices.empty()) matrix = entry.matrices.front();
  return html + copy_block("Makes them, with their scripts next to them",
                           fmt::format("kiln generate -f {} -o out {}",
                                       matrix.empty() ? "MATRIX" : shell_word("matrix/" + matrix + ".json"),
                                       shell_word(image.cell)));
}

std::string history_html(const ImageRecord& image, const PageContent& content, const PageSource& source) {
  const auto spans =
      image.external() ? source.history("", image.code) : source.history(image.repository, image.tag);
  const std::string own = image.identity().hex();
  std::string rows;
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    std::string from;
    for (const Snapshot& snapshot : content.snapshots)
      if (snapshot.number == span->first) from = snapshot.created;
    const std::string state = !span->retired.empty() ? "retired: " + markup_text(span->retired)
                              : span->failing        ? "failing"
                              : span->stale          ? "stale"
                                                     : "";
    rows += fmt::format(
        "<tr{}><th scope=\"row\">{}</th><td class=\"short\">{}</td><td "
        "class=\"short\"><code>{}{}</code>{}</td><td>{}</td></tr>\n",
        span->image == own ? " class=\"own\"" : "",
        span->first == span->last ? std::to_string(span->first)
                                  : fmt::format("{} to {}", span->first, span->last),
        markup_text(from), image.external() ? "" : "sha256:", markup_text(span->image.substr(0, 12)),
        span->image == own ? " <span class=\"badge\">this one</span>" : "", state);
  }
  if (rows.empty()) return "";
  return "<p>The images of this name in each snapshot.</p>\n" +
         wide_table("History over snapshots",
                    {"Snapshots", "Since", image.external() ? "Mapping" : "Digest", "State"}, rows);
}

std::string labels_html(const ImageRecord& image) {
  std::string rows;
  for (const auto& [name, value] : image.labels)
    rows += fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td>{}</td></tr>\n", markup_text(name),
                        markup_text(value));
  if (rows.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", counted(image.labels.size(), "label"),
                     wide_table("Labels", {"Label", "Value"}, rows));
}

struct Part {
  std::string_view id, title;
  std::string content;
};

std::string badge(std::string_view kind, const std::string& words) {
  return fmt::format("<li><span class=\"badge {}\">{}</span></li>", kind, markup_text(words));
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
    add("bad", "<strong>Retired</strong>, and no longer selected: " + markup_text(entry.retired));
  if (entry.failing)
    add("bad", "<strong>Failing</strong>: its bits fail a test that their recipe has by now.");
  if (entry.stale)
    add("care", "<strong>Stale</strong>: its rebuild failed, and this is the image of an earlier snapshot.");
  return html;
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
  html += fact_row("Application", markup_text(image.application + " " + image.version.text()));
  html += fact_row("Install method", markup_text(image.method));
  html += fact_row("Graph compilers",
                   markup_text(image.external() && compilers.empty() ? ""
                               : compilers.empty()                   ? "none"
                                                   : fmt::format("{}", fmt::join(compilers, ", "))));
  html += fact_row("Processor", markup_text(image.cpu));
  html += fact_row("Accelerators", image.accelerators.empty()
                                       ? "none"
                                       : markup_text(fmt::format("{}", fmt::join(image.accelerators, ", "))));
  html += fact_row("Size", markup_text(size_words(image.size)));
  html += fact_row("Published", markup_text(content.published_at(image)));
  html += fact_row("Published by", markup_text(fmt::format("{}", fmt::join(entry.matrices, ", "))));
  return html + "</dl>\n";
}

std::string lead_of(const ImageRecord& image) {
  std::string html;
  for (const char* label : {"org.opencontainers.image.title", "org.opencontainers.image.description"})
    if (auto found = image.labels.find(label); found != image.labels.end())
      html += fmt::format("{}{}", html.empty() ? "" : ". ", markup_text(found->second));
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
      {"contents", "Contents", components_html(image)},
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
      way_up(image_path(image)), markup_text(name));
  main += lead_of(image) + badges_of(entry) + warnings_of(entry) + facts_of(entry, content);
  main += fmt::format("<p><a href=\"{}compare.html#a={}\">Compare with another image</a></p></div>\n",
                      way_up(image_path(image)), markup_text(image_path(image)));
  main += "<div class=\"page-columns\">\n" + contents_of(parts) + "<div class=\"parts\">\n";
  for (const Part& part : parts) main += section(part.id, part.title, part.content);
  main += "</div></div>\n";
  return framed({image_path(image), name + " · kiln", main, {"assets/page.js"}}, content);
}

}  // namespace kiln
