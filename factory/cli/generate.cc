// kiln generate: the Dockerfile and Singularity.def of each cell, with the scripts they need beside them.
#include <fmt/format.h>

#include "cli/cell_options.h"
#include "cli/invocation.h"
#include "cli/usage.h"
#include "definition/twin.h"
#include "plan/planner.h"
#include "plan/render.h"

namespace kiln {
namespace {

struct GenerateOptions : CellOptions {
  std::string output;
  std::string format;
};

// Parsed again, what is written has to say what the plan says; nothing is written before all of it does.
void prove(const ImageSpec& spec) {
  std::vector<std::string> differences =
      twin_differences(spec, render_dockerfile(spec), render_singularity(spec));
  if (differences.empty()) return;
  Error error(ExitCode::images_failed,
              fmt::format("the rendered files of '{}' do not say what its plan says", spec.request.id),
              "this is a mistake of kiln: please report it; nothing was written");
  for (const std::string& line : differences) error.while_doing("comparing: " + line);
  throw error;
}

void write_image(const ImageSpec& spec, const RecipeBook& recipes, const fs::path& output,
                 FileSystem& files) {
  fs::path folder = output / spec.repository / spec.tag;
  for (const auto& [path, bytes] : render_context(spec, recipes)) files.write_output(folder / path, bytes);
  files.write_output(folder / "Dockerfile", render_dockerfile(spec));
  files.write_output(folder / "Singularity.def", render_singularity(spec));
  fmt::print("{}\n", folder.string());
}

// All cells, one after the other: nothing of an image is kept. Once to prove, once to write.
void write_catalogue(const GenerateOptions& options, Invocation& invocation) {
  CatalogueFiles read = invocation.read(options.matrix);
  ResolveInput input{read.recipes, read.targets, invocation.cpus()};
  Planner proven(read.matrix, input);
  while (proven.next()) prove(proven.image().spec);
  Planner planner(read.matrix, input);
  while (planner.next()) write_image(planner.image().spec, read.recipes, options.output, invocation.files);
  invocation.note_plan(read.matrix.name, planner.warnings(), planner.images(), planner.excluded());
}

void run_generate(const CLI::App& command, const GenerateOptions& options, Invocation& invocation) {
  refuse_together(command, "--format", "--output", "--output writes both files of each cell");
  if (!options.output.empty() && options.every_cell() && !invocation.has_lockfile(options.matrix))
    return write_catalogue(options, invocation);
  Catalogue catalogue = invocation.load(options.matrix);
  CellChoice choice = choose_cells(catalogue.plan, options, invocation);
  if (options.output.empty() && (choice.images.size() != 1 || options.format.empty()))
    throw Error(ExitCode::usage, "nowhere to write to",
                "give -o DIR, or name one cell and --format dockerfile|singularity to print it");
  for (const PlannedImage* image : choice.images) prove(image->spec);
  for (const PlannedImage* image : choice.images) {
    if (!options.output.empty())
      write_image(image->spec, catalogue.recipes, options.output, invocation.files);
    else
      fmt::print("{}", options.format == "dockerfile" ? render_dockerfile(image->spec)
                                                      : render_singularity(image->spec));
  }
}

}  // namespace

CLI::App* add_generate(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand(
      "generate", "Write Dockerfile, Singularity.def and their scripts; they build without kiln");
  add_cell_options(*command, *options);
  command->add_option("-o,--output", options->output, "folder to write to: DIR/<repository>/<tag>/")
      ->type_name("DIR");
  command->add_option("--format", options->format, "print one file of one cell: dockerfile or singularity")
      ->check(CLI::IsMember({"dockerfile", "singularity"}));
  command->footer(
      "kiln generate -f matrix/demo.json -o out\n"
      "kiln generate -f matrix/demo.json --format dockerfile pytorch-2.6.0-distro-x86_64-debian_trixie");
  command->callback([options, command, &invocation] { run_generate(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
