#include "factory/pages/image_sections.h"

#include <fmt/format.h>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/pages/bill_table.h"
#include "factory/pages/page_frame.h"
#include "factory/pages/page_text.h"
#include "factory/pages/run_commands.h"

namespace kiln {
namespace {

std::string code(const std::string& text) { return "<code>" + page_text(text) + "</code>"; }

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
                     page_text(document.problem));
}

}  // namespace

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
  for (const std::string& note : run.notes) html += "<p>" + page_text(note) + "</p>\n";
  html += "<div class=\"commands\">\n";
  for (const RunCommand& command : run.commands) html += copy_block(page_text(command.engine), command.text);
  return html + "</div>\n";
}

std::string components_html(const ImageRecord& image) {
  std::string rows;
  for (const ComponentRecord& part : image.components)
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        page_text(part.name), page_text(part.version.text()), page_text(part.kind),
                        page_text(part.method), part.optimised ? "yes" : "");
  std::string html;
  if (!rows.empty())
    html += wide_table("Components", {"Component", "Version", "Kind", "Method", "Beyond stock"}, rows);
  std::string facts;
  for (const auto& [name, value] : image.facts) facts += fact_row(page_text(name), page_text(value));
  if (const HostNeeds& needs = image.needs; !needs.empty()) {
    facts += fact_row("Needs a driver of at least", page_text(needs.driver.text()));
    facts += fact_row("Made with CUDA", page_text(needs.cuda.text()));
    facts += fact_row("Needs a kernel of at least", page_text(needs.kernel.text()));
    facts += fact_row("Its glibc", page_text(needs.glibc.text()));
    facts += fact_row("Its MPI", page_text(needs.mpi.name));
    facts += fact_row("Needs a processor by", page_text(needs.vendor));
  }
  return html + facts_list(facts);
}

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

namespace {

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
  return fact_row(word, value + "<br><span class=\"soft\">" + page_text(explanation) + "</span>");
}

}  // namespace

std::string evidence_html(const EvidenceRecord& evidence) {
  if (evidence.empty()) return "";
  std::string rows =
      explained_row("Verdict", page_text(evidence.verdict), verdict_words(evidence)) +
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
          "glibc", page_text(evidence.glibc_provided),
          evidence.glibc.empty()
              ? ""
              : fmt::format("The image brings it. Its programs use symbols up to {}; the host's glibc "
                            "does not matter.",
                            evidence.glibc)) +
      (evidence.glibc_provided.empty() ? fact_row("glibc symbols up to", page_text(evidence.glibc)) : "") +
      fact_row("Libraries that are missing", list_html(evidence.missing));
  for (const AcceptedRecord& accepted : evidence.accepted)
    rows += fact_row("Accepted beyond the target",
                     code(accepted.file) + " " + page_text(accepted.by + ": " + accepted.reason));
  for (const auto& [what, file] : evidence.shown_by)
    rows += fact_row(page_text(what) + " is shown by", code(file));
  return "<p>What was found in the machine code of the image when it was built.</p>\n" + facts_list(rows);
}

std::string tests_html(const ImageRecord& image) {
  if (image.external()) return "";
  if (!image.tests) return "<p>Nothing was kept of its tests.</p>\n";
  const TestsRecord& tests = *image.tests;
  std::string html, rows;
  if (const std::string why = image.why_untested(); !why.empty())
    html += fmt::format("<p class=\"notice care\">Not tested in full: {}</p>\n", page_text(why));
  const auto add = [&](const std::string& name, const std::string& outcome) {
    const auto run = tests.ran.find(name);
    const bool known = run != tests.ran.end();
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"short\">{}</td><td "
        "class=\"short\">{}</td></tr>\n",
        page_text(name), outcome, known ? page_text(run->second.text()) : "not known",
        known ? page_text(run->second.kernel) : "", known ? page_text(run->second.at) : "");
  };
  for (const std::string& name : tests.passed) add(name, "passed");
  for (const auto& [name, why] : tests.not_run) add(name, "passed, but not run in full: " + page_text(why));
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
        name, page_text(text));
  };
  if (files) {
    add("Dockerfile", files->dockerfile);
    add("Singularity.def", files->singularity);
  }
  if (image.cell.empty()) return html;
  std::string matrix = provenance && provenance->problem.empty() ? matrix_of(provenance->text) : "";
  if (matrix.empty() && !entry.matrices.empty()) matrix = entry.matrices.front();
  return html + copy_block("Makes them, with their scripts beside them",
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
    const std::string state = !span->retired.empty() ? "retired: " + page_text(span->retired)
                              : span->failing        ? "failing"
                              : span->stale          ? "stale"
                                                     : "";
    rows += fmt::format(
        "<tr{}><th scope=\"row\">{}</th><td class=\"short\">{}</td><td "
        "class=\"short\"><code>{}{}</code>{}</td><td>{}</td></tr>\n",
        span->image == own ? " class=\"own\"" : "",
        span->first == span->last ? std::to_string(span->first)
                                  : fmt::format("{} to {}", span->first, span->last),
        page_text(from), image.external() ? "" : "sha256:", page_text(span->image.substr(0, 12)),
        span->image == own ? " <span class=\"badge\">this one</span>" : "", state);
  }
  if (rows.empty()) return "";
  return "<p>What had this name in which snapshots.</p>\n" +
         wide_table("History over snapshots",
                    {"Snapshots", "Since", image.external() ? "Mapping" : "Digest", "State"}, rows);
}

std::string labels_html(const ImageRecord& image) {
  std::string rows;
  for (const auto& [name, value] : image.labels)
    rows += fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td>{}</td></tr>\n", page_text(name),
                        page_text(value));
  if (rows.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", counted(image.labels.size(), "label"),
                     wide_table("Labels", {"Label", "Value"}, rows));
}

}  // namespace kiln
