#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "factory/app/part_search.h"
#include "factory/base/json_text.h"
#include "factory/base/text.h"
#include "factory/cli/bench.h"
#include "factory/cli/build_images.h"
#include "factory/cli/named_files.h"
#include "factory/cli/print.h"
#include "factory/report/matrix_patch.h"
#include "factory/run/publish.h"

namespace kiln {
namespace {

bool is_searched_axis(const std::string& axis) {
  return axis == "library" || axis == "compiler" || axis == "runtime";
}

SearchCell search_cell(const Catalogue& catalogue, std::uint32_t number) {
  const ImageSpec image = catalogue.plan.image(number).spec();
  SearchCell cell;
  cell.image = number;
  cell.name = image.repository + ":" + image.tag;
  cell.is_stock = is_stock(image, catalogue.recipes);
  for (const auto& [axis, value] : image.request.axes)
    if (!is_searched_axis(axis)) cell.base += fmt::format("{}={} ", axis, value);
  for (const ComponentUse& use : image.components)
    if (!use.automatic &&
        (use.kind == Kind::library || use.kind == Kind::compiler || use.kind == Kind::runtime))
      cell.parts.insert(fmt::format("{} {}", name_of(use.kind), use.written));
  return cell;
}

class PartSearch {
 public:
  PartSearch(const Catalogue& catalogue, bool builds, const Site& site, MeasuringPlace& place,
             Invocation& invocation)
      : catalogue_(catalogue),
        builds_(builds),
        invocation_(invocation),
        state_(invocation.state()),
        site_(site),
        place_(place),
        setup_(invocation.step_setup(site_, state_)),
        index_(invocation.index(Index::Mode::write)) {
    read_index();
  }

  // In the order of their beginnings. `cells` outlives the answer.
  std::vector<WorkloadSearch> run(const BenchWork& work, const std::vector<SearchCell>& cells) {
    std::vector<WorkloadSearch> searches;
    for (const SearchCell* start : search_starts(cells)) {
      WorkloadSearch search{work.workload, start};
      for (const SearchCell* over = start; over != nullptr;)
        over = add_one(work, *start, *over, cells, search);
      if (!search.tries.empty()) searches.push_back(std::move(search));
    }
    return searches;
  }

 private:
  // The cell that is kept; nullptr: no addition is proven better.
  const SearchCell* add_one(const BenchWork& work, const SearchCell& start, const SearchCell& over,
                            const std::vector<SearchCell>& cells, WorkloadSearch& search) {
    const std::vector<const SearchCell*> additions = ready(additions_to(over, cells));
    if (additions.empty() || ready({&start}).empty()) return nullptr;
    ImageNumbers images = {start.image};
    if (&over != &start) images.push_back(over.image);
    for (const SearchCell* one : additions) images.push_back(one->image);
    invocation_.note(
        fmt::format("search  {}: {} to {}", work.workload, counted(additions.size(), "addition"), over.name));
    const MeasuredWorkload place = measure(work, images);
    std::vector<SearchTry> tries;
    for (const SearchCell* one : additions)
      tries.push_back(try_of(*one, over, measurements_of(key_of(*one)), measurements_of(key_of(over)),
                             measurements_of(key_of(start)), place));
    const SearchCell* kept = keep_best(tries);
    for (SearchTry& one : tries) search.tries.push_back(std::move(one));
    return kept;
  }

  std::string key_of(const SearchCell& cell) const { return catalogue_.plan.image(cell.image).key(); }

  bool is_ready(const SearchCell& cell) const {
    const std::string step = catalogue_.plan.image(cell.image).spec().last_step().key;
    return entries_.contains(key_of(cell)) && setup_.files.exists(state_.step(step));
  }

  // Those that are built and in the index; with `builds_` the others are made so first.
  std::vector<const SearchCell*> ready(std::vector<const SearchCell*> cells) {
    ImageNumbers missing;
    for (const SearchCell* cell : cells)
      if (!is_ready(*cell)) missing.push_back(cell->image);
    if (missing.empty()) return cells;
    if (builds_) build(missing);
    std::erase_if(cells, [this](const SearchCell* cell) {
      if (is_ready(*cell)) return false;
      invocation_.note(
          fmt::format("search  {}: passed over, as it is {}", cell->name,
                      builds_ ? "not built" : "not built and published; --build-if-missing does"));
      return true;
    });
    return cells;
  }

  void build(const ImageNumbers& images) {
    const BuildReport report = build_images(catalogue_, images, {}, site_, invocation_);
    if (report.interrupted) throw Error(ExitCode::interrupted, "interrupted");
    try {
      publish_built(catalogue_.plan, images, state_, invocation_.files, invocation_.clock);
    } catch (const Error& error) {
      if (error.code() != ExitCode::no_match) throw;  // none of them is built
    }
    index_ = invocation_.index(Index::Mode::write);
    read_index();
  }

  // Returns where, for the speeds that count.
  MeasuredWorkload measure(const BenchWork& work, const ImageNumbers& images) {
    const std::string files = workload_sum(*catalogue_.recipes.find(Kind::workload, work.workload)).hex();
    ImageBench bench(catalogue_, setup_, index_, place_, invocation_);
    MeasuredWorkload place{work.workload, work.wishes.ranks, !work.wishes.data.empty(), files, bench.host()};
    std::vector<const Measurements*> known;
    for (std::uint32_t image : images) known.push_back(&measurements_of(catalogue_.plan.image(image).key()));
    if (work.again || !is_measured(known, place)) {
      BenchWork now = work;
      now.again = true;  // the cells that are known take their turns, too
      bench.run(now, images);
      read_index();
    }
    return place;
  }

  const Measurements& measurements_of(const std::string& key) const {
    static const Measurements kNone;
    const auto entry = entries_.find(key);
    return entry == entries_.end() ? kNone : entry->second.measurements;
  }

  void read_index() {
    entries_.clear();
    for (IndexEntry& entry : index_.entries()) entries_.emplace(entry.image.key, std::move(entry));
  }

  const Catalogue& catalogue_;
  const bool builds_;
  Invocation& invocation_;
  const StatePaths state_;
  const Site& site_;
  MeasuringPlace& place_;
  const StepSetup setup_;
  Index index_;
  std::map<std::string, IndexEntry> entries_;  // by key
};

// --- what is proposed

std::vector<PatchedCell> patched_cells(const Catalogue& catalogue,
                                       const std::map<std::uint32_t, std::vector<std::string>>& cells) {
  std::vector<PatchedCell> patched;
  for (const auto& [image, reasons] : cells)
    patched.push_back({catalogue.plan.image(image).request(), fmt::format("{}", fmt::join(reasons, "; "))});
  return patched;
}

Json patch_of(const Catalogue& catalogue, const SearchVerdicts& verdicts, const SearchTerms& terms,
              const FileSystem& files) {
  const std::string& file = terms.into.empty() ? terms.matrix : terms.into;
  const std::string text = files.read(file).value_or("");
  return terms.into.empty() ? exclude_patch(text, file, patched_cells(catalogue, verdicts.refuted))
                            : include_patch(text, file, patched_cells(catalogue, verdicts.kept));
}

Json to_json(const MeasuredGain& gain) {
  return {{"ratio", gain.ratio}, {"low", gain.low}, {"high", gain.high}};
}

Json tries_json(const std::vector<WorkloadSearch>& searches) {
  Json list = Json::array();
  for (const WorkloadSearch& search : searches)
    for (const SearchTry& one : search.tries) {
      Json json = {{"workload", search.workload},
                   {"stock", search.start->name},
                   {"image", one.cell->name},
                   {"over", one.over->name},
                   {"added", added_part(*one.cell, *one.over)},
                   {"result", search_word(one)}};
      if (one.gain) json["gain"] = to_json(*one.gain);
      if (one.over_stock) json["over_stock"] = to_json(*one.over_stock);
      list.push_back(std::move(json));
    }
  return list;
}

Json kept_json(const Catalogue& catalogue, const SearchVerdicts& verdicts) {
  Json list = Json::array();
  for (const auto& [image, reasons] : verdicts.kept)
    list.push_back({{"image", catalogue.plan.image(image).reference()},
                    {"cell", catalogue.plan.image(image).id()},
                    {"reasons", reasons}});
  return list;
}

void print_table(const Catalogue& catalogue, const std::vector<WorkloadSearch>& searches,
                 const SearchVerdicts& verdicts, const Json& patch) {
  Table table({"WORKLOAD", "ADDED", "TO", "GAIN", "OVER STOCK", "RESULT"});
  for (const WorkloadSearch& search : searches)
    for (const SearchTry& one : search.tries)
      table.add({search.workload, added_part(*one.cell, *one.over), one.over->name,
                 one.gain ? gain_text(*one.gain) : "", one.over_stock ? gain_text(*one.over_stock) : "",
                 search_word(one)});
  print_text(table.text());
  for (const auto& [image, reasons] : verdicts.kept)
    say("keep {}: {}\n", catalogue.plan.image(image).reference(), fmt::join(reasons, "; "));
  if (verdicts.kept.empty()) say("nothing is proven faster than stock\n");
  if (!patch.empty()) print_json(patch);
}

}  // namespace

void search_parts(const Catalogue& catalogue, const std::vector<SearchPart>& parts, const SearchTerms& terms,
                  const Site& site, MeasuringPlace& place, Invocation& invocation) {
  PartSearch search(catalogue, terms.build, site, place, invocation);
  std::vector<std::vector<SearchCell>> cells;  // of each part, which the searches point into
  for (const SearchPart& part : parts) {
    cells.emplace_back();
    for (std::uint32_t image : part.images) cells.back().push_back(search_cell(catalogue, image));
  }
  std::vector<WorkloadSearch> searches;
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (WorkloadSearch& one : search.run(parts[i].work, cells[i])) searches.push_back(std::move(one));
  if (searches.empty())
    throw Error(ExitCode::no_match,
                "there is nothing to search: no stock cell of these has another one with a "
                "library, graph compiler or runtime more",
                "the matrix needs the stock cell and the cells to try (docs/measure.md, \"Search\")");
  const SearchVerdicts verdicts = verdicts_of(searches);
  const Json patch = patch_of(catalogue, verdicts, terms, invocation.files);
  if (!terms.patch.empty()) write_named(terms.patch, printable_json(patch) + "\n", invocation.files);
  if (terms.format == "json")
    print_json({{"tries", tries_json(searches)}, {"keep", kept_json(catalogue, verdicts)}, {"patch", patch}});
  else
    print_table(catalogue, searches, verdicts, patch);
}

}  // namespace kiln
