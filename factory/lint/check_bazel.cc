// A Bazel that TensorFlow's configure refuses: the table of data/tensorflow.json.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/text.h"
#include "factory/lint/check_cells.h"
#include "factory/lint/check_script.h"
#include "factory/lint/tensorflow_facts.h"
#include "factory/lint/whole_file.h"

namespace kiln::lint {
namespace {

void add_versions_behind(std::string_view text, std::string_view mark, std::set<Version>& versions) {
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1))
    if (const std::string version = version_at(text.substr(at + mark.size())); !version.empty())
      versions.insert(Version(version));
}

// Releases of Bazel that the file names: in downloads, packages and variables.
std::set<Version> bazels_of(const WholeFile& whole) {
  std::set<Version> versions;
  auto look_at = [&](const std::string& text) {
    for (std::string_view mark : {"/bazel/releases/download/", "bazel-", "bazel_", "bazel="})
      add_versions_behind(text, mark, versions);
  };
  for (const PlacedCommand& one : whole.commands())
    for (const ShellToken& word : one.command->words) look_at(whole.expanded(word.text));
  for (const Setting& setting : whole.settings)
    if (upper_case(setting.name).find("BAZEL") != std::string::npos)
      if (const std::string version = version_at(setting.value); !version.empty())
        versions.insert(Version(version));
  return versions;
}

// "2.1.0" of v2.1.0, tags/v2.1.0 and v2.1.0-rc1; "2.1" of r2.1.
std::string release_named(std::string_view name) {
  for (std::string_view prefix : {"refs/", "remotes/", "origin/", "tags/", "heads/"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (!name.empty() && (name.front() == 'v' || name.front() == 'r')) name.remove_prefix(1);
  const std::string version = version_at(name);
  const std::string_view rest = name.substr(version.size());
  return rest.empty() || rest.starts_with("-rc") ? version : "";
}

struct Checkout {
  PlacedCommand place;
  Span span;
  std::string release;
};

bool is_upstream(std::string_view url) {
  const std::string lower = lower_case(url);
  return lower.find("tensorflow/tensorflow") != std::string::npos;
}

// Releases of TensorFlow whose source the file takes: by clone and checkout, or as an archive.
std::vector<Checkout> checkouts_of(const WholeFile& whole) {
  std::vector<Checkout> all;
  bool tensorflow = false;  // the newest clone is TensorFlow's
  for (const PlacedCommand& one : whole.commands()) {
    const Call call = call_of(*one.command);
    const bool clone = call.program == "git" && call.has("clone");
    if (clone)
      tensorflow = std::any_of(call.arguments.begin(), call.arguments.end(), [&](const ShellToken* word) {
        return is_upstream(whole.expanded(word->text));
      });
    for (const ShellToken* word : call.arguments) {
      const std::string text = whole.expanded(word->text);
      std::string release;
      if (const std::size_t archive = text.find("/archive/");
          archive != std::string::npos && is_upstream(text)) {
        std::string name = text.substr(archive + std::string_view("/archive/").size());
        name.resize(std::min({name.size(), name.find(".tar"), name.find(".zip")}));
        release = release_named(name);
      } else if (tensorflow && (clone || (call.program == "git" && call.has("checkout")))) {
        release = release_named(
            text.starts_with("--branch=") ? text.substr(std::string_view("--branch=").size()) : text);
      }
      if (!release.empty()) all.push_back({one, word->span, release});
    }
  }
  return all;
}

std::string range_text(const BazelRange& range) {
  return range.first == range.last ? range.first.text()
                                   : fmt::format("{} to {}", range.first.text(), range.last.text());
}

bool fits_range(const Version& bazel, const BazelRange& range) {
  return (range.first <= bazel && bazel <= range.last) || bazel.covers(range.first);
}

}  // namespace

void check_bazel(const WholeFile& whole, Report& report) {
  if (!whole.mentions("bazel") && !whole.mentions("BAZEL")) return;
  const std::set<Version> bazels = bazels_of(whole);
  if (bazels.empty()) return;
  for (const Checkout& checkout : checkouts_of(whole)) {
    const auto range = bazel_for(Version(checkout.release));
    if (!range) continue;
    if (std::any_of(bazels.begin(), bazels.end(),
                    [&](const Version& bazel) { return fits_range(bazel, *range); }))
      continue;
    std::vector<std::string> given;
    for (const Version& bazel : bazels) given.push_back(bazel.text());
    Finding& finding = add(report, "KL036", *checkout.place.unit, *checkout.place.command, checkout.span,
                           fmt::format("TensorFlow {} is built with Bazel {}, and here is {}",
                                       checkout.release, range_text(*range), fmt::join(given, ", ")));
    if (range->derived) finding.severity = Severity::warning;
  }
}

void check_bazel_of(const Cell& cell, const CellInput& input, CellReport& report) {
  for (const Stage& stage : cell.spec->stages) {
    const std::vector<Laid> laid = laid_in(stage, input.recipes);
    auto named = [&](Kind kind, std::string_view name) {
      return std::find_if(laid.begin(), laid.end(), [&](const Laid& one) {
        return one.component->kind == kind && one.component->name == name;
      });
    };
    auto tensorflow = named(Kind::framework, "tensorflow");
    auto bazel = named(Kind::toolchain, "bazel");
    if (tensorflow == laid.end() || bazel == laid.end()) continue;
    const auto range = bazel_for(tensorflow->version->version);
    if (!range || fits_range(bazel->version->version, *range)) continue;
    report.add("KL036", tensorflow->version->where,
               fmt::format("TensorFlow {} is built with Bazel {}, and stage '{}' has {}",
                           tensorflow->version->version.text(), range_text(*range), stage.name,
                           bazel->version->version.text()),
               cell.id(), range->derived ? std::optional(Severity::warning) : std::nullopt);
  }
}

}  // namespace kiln::lint
