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

// Publishes what is built of these images.
void build_and_publish(const Catalogue& catalogue, const ImageNumbers& images, const Site& site,
                       Invocation& invocation) {
  const BuildReport report = build_images(catalogue, images, {}, site, invocation);
  if (report.interrupted) throw Error(ExitCode::interrupted, "interrupted");
  try {
    publish_built(catalogue.plan, images, invocation.state(), invocation.files, invocation.clock);
  } catch (const Error& error) {
    if (error.code() != ExitCode::no_match) throw;  // none of them is built
  }
}

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
  const StatePaths state = invocation.state();
  const StepSetup setup = invocation.step_setup(site, state);
  PartSearchEffects effects{[&] { return invocation.index(Index::Mode::write).entries(); },
                            [&] { return place.machine(); },
                            [&](const BenchWork& work, const ImageNumbers& images) {
                              Index index = invocation.index(Index::Mode::write);
                              ImageBench bench = image_bench(catalogue, setup, index, place, invocation);
                              bench_images(bench, work, images, invocation);
                            },
                            [&](const std::string& line) { invocation.note(line); }};
  if (terms.build)
    effects.build = [&](const ImageNumbers& images) {
      build_and_publish(catalogue, images, site, invocation);
    };
  PartSearch search({catalogue, state, invocation.files}, std::move(effects));
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
