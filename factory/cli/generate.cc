// kiln generate: the Dockerfile and Singularity.def of each cell, with the scripts they need beside them.
#include <fmt/format.h>

#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/render/render.h"
#include "factory/twin/twin.h"

namespace kiln {
namespace {

struct GenerateOptions : CellOptions {
  std::string output;
  std::string format;
  bool one_file = false;
};

// The two files of an image.
struct TextPair {
  std::string dockerfile;
  std::string definition;
};

TextPair texts_of(const ImageSpec& spec, const RecipeBook& recipes, bool one_file) {
  if (!one_file) return {render_dockerfile(spec), render_singularity(spec)};
  return {render_inline_dockerfile(spec, recipes), render_inline_singularity(spec, recipes)};
}

// Parsed again, what is written has to say what the plan says; nothing is written before all of it does.
void prove(const ImageSpec& spec, const RecipeBook& recipes, bool one_file) {
  const TextPair texts = texts_of(spec, recipes, one_file);
  std::vector<std::string> differences =
      one_file ? inline_differences(spec, render_context(spec, recipes), texts.dockerfile, texts.definition)
               : twin_differences(spec, texts.dockerfile, texts.definition);
  if (differences.empty()) return;
  Error error(ExitCode::images_failed,
              fmt::format("the rendered files of '{}' differ from its plan", spec.request.id),
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

void write_one_file_each(const ImageSpec& spec, const RecipeBook& recipes, const fs::path& output,
                         FileSystem& files) {
  const TextPair texts = texts_of(spec, recipes, true);
  const std::string name = fmt::format("{}_{}", spec.repository, spec.tag);
  for (const auto& [ending, text] :
       {std::pair(kInlineDockerfile, texts.dockerfile), std::pair(kInlineDefinition, texts.definition)}) {
    const fs::path path = output / fmt::format("{}{}", name, ending);
    files.write_output(path, text);
    say("{}\n", path.string());
  }
}

// Nothing of an image is kept: all are proven, then all are written.
void run_generate(const CLI::App& command, const GenerateOptions& options, Invocation& invocation) {
  refuse_together(command, "--format", "--output", "--output writes both files of each cell");
  const Catalogue catalogue = invocation.load(options.matrix);
  const ChosenCells chosen = choose_whole_cells(catalogue.plan.resolution(), options, invocation);
  if (options.output.empty() && (chosen.images.size() != 1 || options.format.empty()))
    throw Error(ExitCode::usage, "nowhere to write to",
                "give -o DIR, or name one cell and --format dockerfile|singularity to print it");
  for (std::uint32_t number : chosen.images)
    prove(catalogue.plan.image(number).spec(), catalogue.recipes, options.one_file);
  for (std::uint32_t number : chosen.images) {
    const ImageSpec spec = catalogue.plan.image(number).spec();
    if (options.output.empty()) {
      const TextPair texts = texts_of(spec, catalogue.recipes, options.one_file);
      print_bytes(options.format == "dockerfile" ? texts.dockerfile : texts.definition);
    } else {
      auto write = options.one_file ? write_one_file_each : write_image;
      write(spec, catalogue.recipes, options.output, invocation.files);
    }
  }
}

}  // namespace

CLI::App* add_generate(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = add_below(
      app, "generate", "Write Dockerfile, Singularity.def and their scripts; they build without kiln",
      "kiln generate -f matrix/demo.json -o out\n"
      "kiln generate -f matrix/demo.json --inline -o out 'pytorch:*-openblas-x86_64-*'\n"
      "kiln generate -f matrix/demo.json --format dockerfile pytorch-2.6.0-distro-x86_64-debian_trixie");
  add_cell_options(*command, *options);
  add_value(*command, "-o,--output", options->output, "DIR", "folder to write to: DIR/<repository>/<tag>/");
  add_choice(*command, "--format", options->format, {"dockerfile", "singularity"},
             "print one file of one cell: dockerfile or singularity");
  command->add_flag(
      "--inline", options->one_file,
      "write one self-contained file each, with all scripts: DIR/<repository>_<tag>.Dockerfile and .def");
  command->callback([options, command, &invocation] { run_generate(*command, *options, invocation); });
  return command;
}

}  // namespace kiln
