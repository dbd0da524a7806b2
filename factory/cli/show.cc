// kiln show: one stage of the data's way as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/invocation.h"
#include "cli/table.h"
#include "plan/render.h"

namespace kiln {
namespace {

struct Options {
  std::string matrix;
  std::vector<std::string> cells;
  std::string stage = "resolve";
  bool flags = false;
};

void print_flags(const PlannedImage& image) {
  Table table({"VARIABLE", "VALUE", "COMPILER", "TARGET", "NOTE"});
  for (const FlagOrigin& flag : image.spec.flags)
    table.add({flag.variable, flag.value, flag.compiler, flag.target, flag.note});
  fmt::print("{}:{}\n", image.spec.repository, image.spec.tag);
  fmt::print("{}", table.empty() ? "no script of this image asks for compiler flags\n" : table.text());
}

Json stage_of(const PlannedImage& image, const std::string& stage) {
  if (stage == "expand") return to_json(image.spec.request);
  if (stage == "resolve") return to_json(image.spec);
  return Json{{"id", image.spec.request.id},
              {"Dockerfile", render_dockerfile(image.spec)},
              {"Singularity.def", render_singularity(image.spec)}};
}

void run(const Options& options, Invocation& invocation) {
  Catalogue catalogue = invocation.load(options.matrix);
  auto ids = choose_cells(catalogue.plan, options.cells);
  if (options.stage == "plan" && !options.flags) {
    fmt::print("{}\n", to_json(catalogue.plan).dump(2));
    return;
  }
  Json all = Json::array();
  for (const PlannedImage& image : catalogue.plan.images) {
    if (std::find(ids.begin(), ids.end(), image.spec.request.id) == ids.end()) continue;
    if (options.flags)
      print_flags(image);
    else
      all.push_back(stage_of(image, options.stage));
  }
  if (!options.flags) fmt::print("{}\n", all.dump(2));
}

}  // namespace

CLI::App* add_show(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("show", "Print one stage of the way from matrix to text, as JSON");
  command->add_option("-f,--file", options->matrix, "matrix file")->required()->type_name("FILE");
  command->add_option("cells", options->cells,
                      "cell patterns, one of which must match: a glob over the id, or axis=value");
  command->add_option("--stage", options->stage, "expand, resolve, plan or render")
      ->check(CLI::IsMember({"expand", "resolve", "plan", "render"}))
      ->capture_default_str();
  command->add_flag("--flags", options->flags,
                    "the compiler flags of each cell and where they came from, as a table");
  command->callback([options, &invocation] { run(*options, invocation); });
  return command;
}

}  // namespace kiln
