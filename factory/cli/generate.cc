// kiln generate: the Dockerfile and Singularity.def of each cell, with the scripts they need beside them.
#include <fmt/format.h>

#include "cli/cell_options.h"
#include "cli/invocation.h"
#include "cli/print.h"
#include "cli/usage.h"
#include "render/render.h"
#include "twin/twin.h"

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
  say("{}\n", folder.string());
}

// Nothing of an image is kept: all are proven, then all are written.
void run_generate(const CLI::App& command, const GenerateOptions& options, Invocation& invocation) {
  refuse_together(command, "--format", "--output", "--output writes both files of each cell");
  const Catalogue catalogue = invocation.load(options.matrix);
  const ChosenCells chosen = choose_whole_cells(catalogue.plan.resolution(), options, invocation);
  if (options.output.empty() && (chosen.images.size() != 1 || options.format.empty()))
    throw Error(ExitCode::usage, "nowhere to write to",
                "give -o DIR, or name one cell and --format dockerfile|singularity to print it");
  for (std::uint32_t number : chosen.images) prove(catalogue.plan.image(number).spec());
  for (std::uint32_t number : chosen.images) {
    const ImageSpec spec = catalogue.plan.image(number).spec();
    if (!options.output.empty())
      write_image(spec, catalogue.recipes, options.output, invocation.files);
    else
      print_bytes(options.format == "dockerfile" ? render_dockerfile(spec) : render_singularity(spec));
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
