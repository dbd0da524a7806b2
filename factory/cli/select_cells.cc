#include "factory/cli/select_cells.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/quote.h"
#include "factory/cli/build_images.h"
#include "factory/cli/options.h"
#include "factory/cli/state_lock.h"
#include "factory/run/publish.h"
#include "factory/state/access.h"
#include "factory/state/record_store.h"

namespace kiln {

namespace {

// A damaged record is as good as none: the build makes it anew.
std::optional<ImageRecord> packaged_record(const ResolvedImage& cell, const Invocation& invocation) {
  const StatePaths state = invocation.state();
  return unless_error([&] { return RecordReader(state, invocation.files).image(cell.record_name()); });
}

void publish_cell(const SelectCells& cells, const PlanCell& cell, const Invocation& invocation) {
  const Published done = publish_built(cells.catalogue(cell).plan, {cell.image}, invocation.state(),
                                       invocation.files, invocation.clock);
  invocation.note(fmt::format("published {} as snapshot {}", cells.image(cell).reference(), done.snapshot));
}

// A user without root begins anew in a user namespace, so it comes before anything is counted; and the state
// folder is made.
void prepare_build(const Invocation& invocation) {
  invocation.need_root_for_steps();
  follow_permissions(invocation.state());
}

// REQUIRES: prepare_build(), and a cell was found.
Answer build_missing(SelectCells& cells, Asking& asking, bool explained, Invocation& invocation) {
  invocation.options.wait = true;  // the question needs the answer, even if another kiln builds it
  const WriterLock lock =
      lock_state(invocation, fmt::format("a build for a question about {}", cells.query().application));
  auto ask_again = [&] {
    if (invocation.has_index()) asking.index.emplace(invocation.index(Index::Mode::read));
    return asking.ask(explained, invocation);
  };
  Answer now = ask_again();
  if (now.selection.winner) return now;
  cells.find(now.entries);
  if (!cells.cell()) return now;
  const PlanCell cell = *cells.cell();
  const std::string name = cells.image(cell).reference();
  invocation.note(fmt::format("no image matches yet: building {} of {}", name, cells.file(cell)));
  const BuildReport report = build_images(cells.catalogue(cell), {cell.image}, {}, cells.site(), invocation);
  if (const auto error = why_unbuilt(report)) throw Error(*error);
  if (const std::string why = cells.unfit(cell, now.entries); !why.empty())
    throw Error(ExitCode::no_match, fmt::format("{} is built, and does not match: {}", name, why),
                "it is not published");
  publish_cell(cells, cell, invocation);
  return ask_again();
}

}  // namespace

void add_matrices_option(CLI::App& command, std::vector<std::string>& matrices) {
  add_list(command, "-f,--file", matrices, "FILE",
           "a matrix whose cells could be built: if no image qualifies, kiln names the "
           "cell that would; may be repeated")
      ->envname("KILN_FILE");
}

void add_build_if_missing(CLI::App& command, bool& build_if_missing) {
  command.add_flag("--build-if-missing", build_if_missing,
                   "if no image qualifies, build, test and publish the matching cell, and answer with it; "
                   "waits for a running build");
}

void check_build_if_missing(const CLI::App& command, bool build_if_missing,
                            const std::vector<std::string>& matrices, const Invocation& invocation) {
  refuse_together(command, "--build-if-missing", "--snapshot", "a snapshot stays what it is");
  if (build_if_missing && matrices.empty())
    throw Error(ExitCode::usage, "--build-if-missing goes with -f", "which names the matrix to build from");
  if (matrices.size() > 1 && !invocation.options.lockfile.empty())
    throw Error(ExitCode::usage, "--lockfile goes with one matrix",
                "kiln finds the lockfile next to each matrix");
  auto named = invocation.environment.find("KILN_FILE");
  for (const std::string& matrix : matrices)
    if (named == invocation.environment.end() || named->second != matrix) invocation.need_file(matrix);
}

SelectCells::SelectCells(std::vector<std::string> files, const ImageQuery& query, const Host& host,
                         Invocation& invocation)
    : files_(std::move(files)),
      site_(invocation.site()),
      query_(&query),
      host_(&host),
      invocation_(&invocation) {
  catalogues_.reserve(files_.size());
  for (const std::string& file : files_) catalogues_.push_back(invocation.load(file));
}

CellQuestion SelectCells::question(const std::vector<IndexEntry>& published) const {
  auto fact = [this](const ComponentUse& component, const std::string& name) -> std::string {
    for (const Catalogue& catalogue : catalogues_)
      if (std::string value = fact_of(component, name, catalogue.recipes); !value.empty()) return value;
    return "";
  };
  auto packaged = [this](const ResolvedImage& cell) { return packaged_record(cell, *invocation_); };
  return {*query_, *host_, invocation_->cpus(), published, site_.sif, packaged, fact};
}

void SelectCells::find(const std::vector<IndexEntry>& published) {
  std::vector<const BuildPlan*> plans;
  for (const Catalogue& catalogue : catalogues_) plans.push_back(&catalogue.plan);
  found_ = suitable_cell(plans, question(published));
}

std::string SelectCells::unfit(const PlanCell& cell, const std::vector<IndexEntry>& published) const {
  const std::optional<ImageRecord> record = packaged_record(image(cell), *invocation_);
  if (!record)
    throw Error(ExitCode::store, fmt::format("{} is built, and has no record", image(cell).reference()));
  return kiln::unfit(*record, question(published));
}

std::string SelectCells::names() const { return fmt::format("{}", fmt::join(files_, ", ")); }

std::string SelectCells::broken() const {
  std::size_t cells = 0;
  for (const Catalogue& catalogue : catalogues_) cells += catalogue.plan.broken();
  if (cells == 0) return "";
  return fmt::format("; {} broken (`kiln plan`)",
                     cells == 1 ? "1 cell is" : fmt::format("{} cells are", cells));
}

std::string SelectCells::hint() const {
  if (found_.cell)
    return fmt::format("the cell {} of {} would match: build and publish it, or --build-if-missing",
                       image(*found_.cell).id(), file(*found_.cell));
  if (!found_.nearest) return fmt::format("no cell of {} is of that application{}", names(), broken());
  return fmt::format("no cell of {} would match; nearest {}: {}{}", names(), image(*found_.nearest).id(),
                     found_.failed, broken());
}

std::string SelectCells::explain() const {
  if (!found_.cell) return hint() + "\n";
  const ResolvedImage cell = image(*found_.cell);
  std::string text = fmt::format("would match, once it is built: the cell {} of {}\n  {}\n", cell.id(),
                                 file(*found_.cell), cell.reference());
  for (const std::string& reason : found_.reasons) text += "  " + reason + "\n";
  const std::string words = fmt::format("-f {} {}", shell_word(file(*found_.cell)), shell_word(cell.id()));
  return text + fmt::format("  kiln build {0} && kiln publish {0}\n", words);
}

Json SelectCells::cell_json(const PlanCell& cell) const {
  const ResolvedImage image = this->image(cell);
  return {{"matrix", file(cell)}, {"cell", image.id()}, {"name", image.reference()}};
}

void SelectCells::add_to(Json& json) const {
  if (found_.cell) {
    json["would_match"] = cell_json(*found_.cell);
    json["would_match"]["reasons"] = found_.reasons;
  } else if (found_.nearest) {
    json["nearest_cell"] = cell_json(*found_.nearest);
    json["nearest_cell"]["failed"] = found_.failed;
  }
}

Answer answer_or_build(Asking& asking, bool explained, const MissingImage& missing,
                       std::optional<SelectCells>& cells, Invocation& invocation) {
  Answer answer = asking.ask(explained, invocation);
  const Question& question = asking.question;
  if (!answer.selection.winner && !missing.matrices.empty()) {
    cells.emplace(missing.matrices, question.reading.query, question.host.host, invocation);
    cells->find(answer.entries);
  }
  const bool is_to_build = missing.is_built && cells && cells->cell();
  if (is_to_build) prepare_build(invocation);
  if (missing.is_counted) count_question(question, answer.selection, invocation);
  if (is_to_build) answer = build_missing(*cells, asking, explained, invocation);
  if (answer.selection.winner) cells.reset();
  return answer;
}

}  // namespace kiln
