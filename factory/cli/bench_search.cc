#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/json_text.h"
#include "factory/base/text.h"
#include "factory/bench/search.h"
#include "factory/cli/bench.h"
#include "factory/cli/build_images.h"
#include "factory/cli/print.h"
#include "factory/cli/ready_workload.h"
#include "factory/report/matrix_patch.h"
#include "factory/run/publish.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

// The tries of one workload that began with one stock cell.
struct WorkloadSearch {
  std::string workload;
  const SearchCell* start;
  std::vector<SearchTry> tries{};
};

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
  PartSearch(const Catalogue& catalogue, bool builds, Invocation& invocation)
      : catalogue_(catalogue),
        builds_(builds),
        invocation_(invocation),
        state_(invocation.state()),
        site_(invocation.site()),
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
    measure(work, images);
    std::vector<SearchTry> tries;
    for (const SearchCell* one : additions) tries.push_back(try_of(work, *one, over, start));
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

  void measure(const BenchWork& work, const ImageNumbers& images) {
    files_ = workload_sum(*catalogue_.recipes.find(Kind::workload, work.workload)).hex();
    ImageBench bench(catalogue_, setup_, index_, invocation_);
    host_ = bench.host();
    if (work.again || !is_measured(work, images)) {
      BenchWork now = work;
      now.again = true;  // the cells that are known take their turns, too
      bench.run(now, images);
      read_index();
    }
  }

  bool is_here(const Measurement& one, const BenchWork& work) const {
    return is_speed_of(one.workload, work.workload, work.wishes.ranks, !work.wishes.data.empty()) &&
           is_same_machine(one.host, host_) && one.workload_files == files_;
  }

  // One session has them all, so that a search that was killed goes on where it was.
  bool is_measured(const BenchWork& work, const ImageNumbers& images) const {
    std::map<std::string, std::size_t> sessions;  // how many of the images each has
    for (std::uint32_t image : images) {
      std::set<std::string> of_image;
      for (const Measurement& one : measurements_of(catalogue_.plan.image(image).key()))
        if (is_here(one, work) && one.rounds >= kProvingRounds) of_image.insert(one.session);
      for (const std::string& session : of_image)
        if (!session.empty() && ++sessions[session] == images.size()) return true;
    }
    return false;
  }

  const std::vector<Measurement>& measurements_of(const std::string& key) const {
    static const std::vector<Measurement> kNone;
    const auto entry = entries_.find(key);
    return entry == entries_.end() ? kNone : entry->second.measurements;
  }

  // Of several metrics the one with the least gain.
  SearchTry try_of(const BenchWork& work, const SearchCell& cell, const SearchCell& over,
                   const SearchCell& start) const {
    SearchTry tried{&cell, &over};
    const std::vector<Measurement>& own = measurements_of(key_of(cell));
    std::map<std::string, const Measurement*> last;  // by metric
    for (const Measurement& one : own)
      if (is_here(one, work)) last[one.workload] = &one;
    for (const auto& [metric, measured] : last) {
      const auto gain = gain_over(own, measurements_of(key_of(over)), *measured);
      if (!gain || gain->of != measured || (tried.gain && tried.gain->low <= gain->gain.low)) continue;
      tried.gain = gain->gain;
      tried.rounds = measured->rounds;
      tried.over_stock.reset();
      if (const auto stock = gain_over(own, measurements_of(key_of(start)), *measured))
        tried.over_stock = stock->gain;
    }
    return tried;
  }

  void read_index() {
    entries_.clear();
    for (IndexEntry& entry : index_.entries()) entries_.emplace(entry.image.key, std::move(entry));
  }

  const Catalogue& catalogue_;
  const bool builds_;
  Invocation& invocation_;
  const StatePaths state_;
  const Site site_;
  const StepSetup setup_;
  Index index_;
  std::map<std::string, IndexEntry> entries_;  // by key
  HostDescription host_;
  std::string files_;  // digest of the workload's
};

// --- what is proposed

std::string reason_of(const WorkloadSearch& search, const SearchTry& one) {
  std::string text = search.workload + ": " + search_word(one);
  if (one.gain) text += fmt::format(", {}", gain_text(*one.gain, one.over->name));
  if (one.over_stock && one.over != search.start)
    text += fmt::format(", {}", gain_text(*one.over_stock, "stock"));
  return text;
}

// What each cell that was tried showed, and which are worth keeping: the end of a search. Those on the way to
// it are neither kept nor refuted.
struct Verdicts {
  std::map<std::uint32_t, std::vector<std::string>> kept, refuted;  // reasons by image
};

Verdicts verdicts_of(const std::vector<WorkloadSearch>& searches) {
  Verdicts verdicts;
  std::set<std::uint32_t> on_the_way;
  for (const WorkloadSearch& search : searches) {
    const SearchTry* result = search_result(search.tries);
    for (const SearchTry& one : search.tries) {
      if (one.is_kept) on_the_way.insert(one.cell->image);
      if (&one == result)
        verdicts.kept[one.cell->image].push_back(reason_of(search, one));
      else if (one.gain)
        verdicts.refuted[one.cell->image].push_back(reason_of(search, one));
    }
  }
  std::erase_if(verdicts.refuted, [&](const auto& one) { return on_the_way.contains(one.first); });
  return verdicts;
}

std::vector<PatchedCell> patched_cells(const Catalogue& catalogue,
                                       const std::map<std::uint32_t, std::vector<std::string>>& cells) {
  std::vector<PatchedCell> patched;
  for (const auto& [image, reasons] : cells)
    patched.push_back({catalogue.plan.image(image).request(), fmt::format("{}", fmt::join(reasons, "; "))});
  return patched;
}

Json patch_of(const Catalogue& catalogue, const Verdicts& verdicts, const SearchTerms& terms,
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

Json kept_json(const Catalogue& catalogue, const Verdicts& verdicts) {
  Json list = Json::array();
  for (const auto& [image, reasons] : verdicts.kept)
    list.push_back({{"image", catalogue.plan.image(image).reference()},
                    {"cell", catalogue.plan.image(image).id()},
                    {"reasons", reasons}});
  return list;
}

void print_table(const Catalogue& catalogue, const std::vector<WorkloadSearch>& searches,
                 const Verdicts& verdicts, const Json& patch) {
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
                  Invocation& invocation) {
  PartSearch search(catalogue, terms.build, invocation);
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
  const Verdicts verdicts = verdicts_of(searches);
  const Json patch = patch_of(catalogue, verdicts, terms, invocation.files);
  if (!terms.patch.empty()) invocation.files.write_output(terms.patch, printable_json(patch) + "\n");
  if (terms.format == "json")
    print_json({{"tries", tries_json(searches)}, {"keep", kept_json(catalogue, verdicts)}, {"patch", patch}});
  else
    print_table(catalogue, searches, verdicts, patch);
}

}  // namespace kiln
