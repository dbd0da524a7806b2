// kiln generate: the Dockerfile and Singularity.def of each cell, with the scripts they need beside them.
#include <fmt/format.h>

#include <algorithm>

#include "cli/invocation.h"
#include "plan/render.h"

namespace kiln {
namespace {

struct Options {
  std::string matrix;
  std::vector<std::string> cells;
  std::string output;
  std::string format;
};

void write_image(const ImageSpec& spec, const Catalogue& catalogue, const Options& options,
                 Invocation& invocation) {
  fs::path folder = fs::path(options.output) / spec.repository / spec.tag;
  for (const auto& [path, bytes] : render_context(spec, catalogue.recipes))
    invocation.files.write(folder / path, bytes);
  invocation.files.write(folder / "Dockerfile", render_dockerfile(spec));
  invocation.files.write(folder / "Singularity.def", render_singularity(spec));
  fmt::print("{}\n", folder.string());
}

void run(const Options& options, Invocation& invocation) {
  Catalogue catalogue = invocation.load(options.matrix);
  auto ids = choose_cells(catalogue.plan, options.cells);
  if (options.output.empty() && (ids.size() != 1 || options.format.empty()))
    throw Error(ExitCode::usage, "nowhere to write to",
                "give -o DIR, or name one cell and --format dockerfile|singularity to print it");
  for (const PlannedImage& image : catalogue.plan.images) {
    if (std::find(ids.begin(), ids.end(), image.spec.request.id) == ids.end()) continue;
    if (!options.output.empty())
      write_image(image.spec, catalogue, options, invocation);
    else
      fmt::print("{}", options.format == "dockerfile" ? render_dockerfile(image.spec)
                                                      : render_singularity(image.spec));
  }
}

}  // namespace

CLI::App* add_generate(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "generate", "Write Dockerfile, Singularity.def and their scripts; they build without kiln");
  command->add_option("-f,--file", options->matrix, "matrix file")->required()->type_name("FILE");
  command->add_option("cells", options->cells,
                      "cell patterns, one of which must match: a glob over the id, or axis=value");
  command->add_option("-o,--output", options->output, "folder to write to: DIR/<repository>/<tag>/")
      ->type_name("DIR");
  command->add_option("--format", options->format, "print one file of one cell: dockerfile or singularity")
      ->check(CLI::IsMember({"dockerfile", "singularity"}));
  command->callback([options, &invocation] { run(*options, invocation); });
  return command;
}

}  // namespace kiln
