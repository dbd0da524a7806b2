// kiln diff: two catalogues cell by cell, two lockfiles entry by entry, or two images file by file.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "factory/base/json_put.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/cli/image_name.h"
#include "factory/cli/invocation.h"
#include "factory/cli/lock_use.h"
#include "factory/cli/options.h"
#include "factory/cli/plan_text.h"
#include "factory/cli/print.h"
#include "factory/engine/architecture.h"
#include "factory/oci/image_diff.h"
#include "factory/oci/pull.h"
#include "factory/os/temporary_folder.h"
#include "factory/report/plan_diff.h"

namespace kiln {
namespace {

bool has_transport(const std::string& text) {
  for (const char* prefix : {"oci:", "oci-archive:", "docker-archive:", "docker:"})
    if (text.starts_with(prefix)) return true;
  return false;
}

SourceImage open_image(const std::string& text, const fs::path& folder, Invocation& invocation) {
  ImageName name = name_of(text, invocation);
  need_source(name, invocation);
  if (name.transport == "docker") name = pull_image(name, own_architecture(), folder, invocation.skopeo());
  return SourceImage::open(name, own_architecture());
}

void print_table(const ImageDifference& difference) {
  for (const std::string& what : difference.configuration) say("configuration: {}\n", on_one_line(what));
  Table table({"FILE", "CHANGE", "WHAT", "MADE BY"});
  for (const FileDifference& file : difference.files)
    table.add({on_one_line(file.path), name_of(file.change),
               on_one_line(fmt::format("{}", fmt::join(file.what, ", "))), on_one_line(file.made_by)});
  if (!table.empty()) table.print();
  say("{} of {} files differ\n", difference.files.size(), difference.compared);
}

// True for what names an image: a transport (oci:, docker://, …) or, where no file has the name, a tag of the
// index.
bool names_image(const std::string& text, Invocation& invocation) {
  if (has_transport(text)) return true;
  if (text.find(':') == std::string::npos || invocation.files.exists(text)) return false;
  return invocation.has_index();
}

// Prints the report on stdout, as a table or as JSON. True when the images differ. Throws Error(input),
// Error(network).
bool diff_images(const std::string& before, const std::string& now, bool as_json, Invocation& invocation) {
  TemporaryFolder first;
  TemporaryFolder second;
  ImageDifference difference = compare_images(open_image(before, first.path(), invocation),
                                              open_image(now, second.path(), invocation));
  if (as_json)
    print_json(to_json(difference));
  else
    print_table(difference);
  return !difference.empty();
}

struct DiffOptions {
  std::string before;
  std::string now;
  std::string format = "table";
  bool explain = false;
  bool exit_code = false;
};

enum class Form { matrix, lockfile, plan };

struct DiffSide {
  std::string file;
  Form form;
  JsonDocument document;
};

DiffSide read_side(const std::string& file, const FileSystem& files) {
  JsonDocument document = read_document(files, file, {256u << 20, 64, 1u << 20, 20'000'000});
  JsonNode root = document.root();
  Form form = Form::matrix;
  if (root.find("lock")) form = Form::lockfile;
  if (root.find("cells") && root.find("steps")) form = Form::plan;
  return {file, form, document};
}

// A plan that was read, or one that is made.
struct PlannedSide {
  std::optional<PlanDocument> read;
  std::optional<BuildPlan> made;
  PlanImages images() const { return read ? images_of(*read) : images_of(*made); }
};

// A matrix is planned under its own lockfile, or under the other side's, to see what that one would change.
PlannedSide plan_of(const DiffSide& side, const DiffSide& other, Invocation& invocation) {
  if (side.form == Form::plan) return {plan_from_json(side.document), std::nullopt};
  if (side.form == Form::lockfile) {
    if (other.form == Form::plan)
      throw Error(ExitCode::usage, fmt::format("{} is a lockfile, and {} a plan", side.file, other.file),
                  "name the matrix in place of the plan");
    Lockfile lock = read_lockfile(side.document);
    return {std::nullopt, invocation.plan(other.file, &lock).plan};
  }
  auto lock = find_lockfile(side.file, invocation);
  return {std::nullopt, invocation.plan(side.file, lock ? &*lock : nullptr).plan};
}

void print_table(const PlanDifference& difference, bool explain) {
  Table table({"CELL", "CHANGE", "WHY"});
  for (const CellDifference& cell : difference.cells) {
    std::string first = explain && !cell.why.empty() ? cell.why.front() : short_reason(cell.why);
    table.add({cell.id, std::string(name_of(cell.change)), first});
    for (std::size_t i = 1; explain && i < cell.why.size(); ++i) table.add({"", "", cell.why[i]});
  }
  if (!table.empty()) say("{}\n", table.text());
  say("{} added, {} removed, {} changed, {} to re-test, {} to re-tag, {} unchanged\n",
      difference.count(CellChange::added), difference.count(CellChange::removed),
      difference.count(CellChange::changed), difference.count(CellChange::retest),
      difference.count(CellChange::retag), difference.unchanged);
}

bool diff_plans(const DiffOptions& options, const DiffSide& before, const DiffSide& now,
                Invocation& invocation) {
  const PlannedSide old_plan = plan_of(before, now, invocation);
  const PlannedSide plan = plan_of(now, before, invocation);
  PlanDifference difference = compare_plans(old_plan.images(), plan.images());
  if (options.format == "json")
    print_json(to_json(difference));
  else
    print_table(difference, options.explain);
  return !difference.cells.empty();
}

bool diff_locks(const DiffOptions& options, const DiffSide& before, const DiffSide& now) {
  auto changes = compare_locks(read_lockfile(before.document), read_lockfile(now.document));
  if (options.format == "json") {
    print_json(Json{{"changes", json_list(changes)}});
  } else {
    for (const LockChange& change : changes) say("{}\n", text_of(change));
    say("{}{}\n", changes.empty() ? "" : "\n", counted(changes.size(), "change"));
  }
  return !changes.empty();
}

bool diff_catalogues(const DiffOptions& options, Invocation& invocation) {
  DiffSide before = read_side(options.before, invocation.files);
  DiffSide now = read_side(options.now, invocation.files);
  bool locks = before.form == Form::lockfile && now.form == Form::lockfile;
  return locks ? diff_locks(options, before, now) : diff_plans(options, before, now, invocation);
}

void run_diff(const DiffOptions& options, Invocation& invocation) {
  bool images = names_image(options.before, invocation);
  if (images != names_image(options.now, invocation))
    throw Error(ExitCode::usage,
                fmt::format("{} is an image, but {} is not", images ? options.before : options.now,
                            images ? options.now : options.before),
                "name two images, or two matrices, plans or lockfiles");
  bool differ = images ? diff_images(options.before, options.now, options.format == "json", invocation)
                       : diff_catalogues(options, invocation);
  if (differ && options.exit_code) invocation.exit_code = ExitCode::images_failed;
}

}  // namespace

CLI::App* add_diff(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command =
      add_below(app, "diff", "Compare two catalogues cell by cell, two lockfiles, or two images file by file",
                "kiln diff matrix/demo.lock.json matrix/demo.json --explain\n"
                "kiln diff oci:first/images/hello/2.1 oci:second/images/hello/2.1\n"
                "git worktree add ../before HEAD~1 && kiln diff ../before/matrix/demo.json matrix/demo.json");
  add_value(*command, "before", options->before, "A",
            "a matrix, a lockfile, a plan.json, or an image in the form of `kiln inspect`")
      ->required();
  add_value(*command, "now", options->now, "B",
            "another of these; a lockfile next to a matrix compares the matrix under its own lockfile "
            "and under this one")
      ->required();
  add_format_option(*command, options->format);
  command->add_flag("--explain", options->explain, "print every reason for each cell, one a line");
  command->add_flag("--exit-code", options->exit_code, "exit with 1 when they differ");
  command->callback([options, &invocation] { run_diff(*options, invocation); });
  return command;
}

}  // namespace kiln
