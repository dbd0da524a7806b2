// Singularity.def for Apptainer and SingularityCE: the stages of the Dockerfile, step for step.
//
// In the container everything of ours is under /.kiln: scripts/ and site/ (removed at the end of %post),
// copies/ (what a build stage hands on, as tar archives: `%files from` would follow links and run before
// every step), and tests/, which stays so that `apptainer test` can prove the image anywhere. "{{" never
// appears: it would be replaced by Apptainer's build arguments. In the form of one file, %setup and %post
// write what the build context holds otherwise.
#include <fmt/format.h>

#include <map>

#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/render/one_file.h"
#include "factory/render/render.h"
#include "factory/render/stage_layout.h"

namespace kiln {
namespace {

constexpr std::string_view kOurs = "/.kiln";

// `alone`: nullptr for the form with a build context.
std::string definition_header(const ImageSpec& spec, const StageLayout& layout, const OneFile* alone) {
  std::string file = one_line(fmt::format("{}_{}.sif", spec.repository, spec.tag));
  std::string text = fmt::format("# {}\n#\n# {}\n#\n# To build it here, without kiln:\n",
                                 generated_line(spec), summary(spec));
  if (alone != nullptr) text += rootfs_command(layout, *alone);
  if (alone == nullptr && layout.needs_rootfs())
    text += "#   sh rootfs.sh      # first: makes the root file system of the base\n";
  text += fmt::format("#   apptainer build --fakeroot {} {}\n", file,
                      alone != nullptr ? shell_word(alone->name) : "Singularity.def");
  text +=
      "# The machine's proxies, certificates, and pip's, git's and apt's configuration are used while "
      "building, and left out of the image.\n";
  const auto secrets = secrets_of(spec, {StepKind::run});
  if (!secrets.empty())
    text +=
        "# Steps need secrets, which the image does not keep; put each into a file of its name, and their "
        "folder before the "
        "command:\n#   KILN_SECRETS=FOLDER apptainer build …\n";
  for (const auto& [name, steps] : secrets)
    text += fmt::format("#   FOLDER/{}      # for {}\n", name, fmt::join(steps, ", "));
  return alone != nullptr ? text + rootfs_comment(layout, *alone) : text;
}

std::string bootstrap(const RenderBase& base, const std::string& stage) {
  if (!base.archive.empty()) return fmt::format("\nBootstrap: scratch\nStage: {}\n", stage);
  std::string from = plain_reference(base.step->reference);
  std::string agent = "docker";
  for (std::string_view other : {"oci", "oci-archive", "docker-archive"}) {
    if (!from.starts_with(fmt::format("{}:", other))) continue;
    agent = other;
    from = from.substr(other.size() + 1);
    // Apptainer takes the layout's folder alone here, without the tag.
    if (agent == "oci") from = from.substr(0, from.find(':'));
  }
  std::string tagged =
      base.step->tagged.empty() ? "" : fmt::format("# {}\n", plain_reference(base.step->tagged));
  return fmt::format("\nBootstrap: {}\nFrom: {}\n{}Stage: {}\n", agent, from, tagged, stage);
}

std::string setup_section(const ImageSpec& spec, const RenderBase& base, bool alone) {
  std::string root = "\"${APPTAINER_ROOTFS:-$SINGULARITY_ROOTFS}\"";
  if (!base.archive.empty()) root += " " + base.archive;
  if (!alone) return fmt::format("\n%setup\n    /bin/sh -eu setup.sh {}\n", root);
  return fmt::format("\n%setup\n    /bin/sh -eu -s {} <<'KILN'\n{}KILN\n", root,
                     setup_script({!base.archive.empty(), false, false, secrets_of(spec, {StepKind::run})}));
}

std::string archive_of(const RenderCopy& copy) { return fmt::format("{}/copies/{}.tar", kOurs, copy.number); }

std::vector<const Step*> tests_of(const ImageSpec* image) {
  std::vector<const Step*> tests;
  for (std::size_t i = 0; image != nullptr && i < image->tests.size(); ++i) tests.push_back(&image->tests[i]);
  return tests;
}

// "scripts/framework-hello/a.sh" of the build context, where `place` has it in the container.
std::string place_of(const std::string& path, std::string_view place) {
  return fmt::format("{}/{}{}", kOurs, place, path.substr(path.find('/')));
}

// Commands of %post that write the files of these steps; each folder first.
std::string writing_in_post(const std::vector<const Step*>& steps, std::string_view place,
                            const OneFile& alone) {
  std::string text;
  std::string folder;
  for (const std::string& path : context_paths(steps)) {
    std::string target = place_of(path, place);
    if (std::string its = target.substr(0, target.rfind('/')); its != folder)
      text += fmt::format("\n    mkdir -p {}\n", shell_word(folder = its));
    text += writing_commands(shell_word(target), alone.context.at(path), "    ");
  }
  return text;
}

std::string script_files(const RenderStage& stage, const ImageSpec* image) {
  std::string files;
  for (const std::string& folder : script_folders(stage.steps)) {
    files += fmt::format("    scripts/{0} {1}/scripts/{0}\n", folder, kOurs);
  }
  for (const std::string& folder : script_folders(tests_of(image))) {
    files += fmt::format("    scripts/{0} {1}/tests/{0}\n", folder, kOurs);
  }
  return files.empty() ? "" : "\n%files\n" + files;
}

// What a stage takes from earlier ones.
std::string copied_files(const RenderStage& stage, const StageLayout& layout) {
  std::map<std::size_t, std::string> lines;  // by the earlier stage
  for (const Step* step : stage.steps) {
    if (taken_paths(*step).empty()) continue;
    const RenderCopy& copy = layout.copy_of(*step);
    lines[copy.from] += fmt::format("    {0} {0}\n", archive_of(copy));
  }
  std::string text;
  for (const auto& [from, files] : lines)
    text += fmt::format("\n%files from {}\n{}", layout.stages()[from].name, files);
  return text;
}

// A script in a subshell of its own, as the RUN instruction of the Dockerfile has it.
std::string run_script(const Step& step, std::string_view place, const std::vector<std::string>& always) {
  std::vector<std::string> lines =
      script_lines(step, fmt::format("{}/{}/{}", kOurs, place, script_folder(step)), always);
  lines.front().insert(0, "( ");
  lines.back() += " ) || exit 1";
  return "    " + continued(lines, "      ");
}

std::string post_step(const Step& step, const StageLayout& layout) {
  std::string text = fmt::format("\n    # {}\n", one_line(step.title));
  if (!taken_paths(step).empty())
    text += fmt::format("    tar -C / -xpf {}\n", archive_of(layout.copy_of(step)));
  if (step.kind == StepKind::run) text += run_script(step, "scripts", always_there(true));
  if (!step.mount.empty()) text += fmt::format("    rm -rf {}\n", fmt::join(step.mount, " "));
  return text;
}

// The archives that later stages take from this one.
std::string hand_on(std::size_t stage, const StageLayout& layout) {
  std::string text;
  for (const auto& [key, copy] : layout.copies()) {
    if (copy.from != stage) continue;
    std::string paths;
    for (const std::string& path : taken_paths(*copy.step)) paths += " ." + plain_path(path);
    if (text.empty()) text = fmt::format("\n    mkdir -p {}/copies\n", kOurs);
    text += fmt::format("    tar -C / -cf {}{}\n", archive_of(copy), paths);
  }
  return text;
}

bool fits_labels_section(const std::string& value) { return !contains(value, "{{"); }

// %labels holds a value as it is, blanks at its ends aside; empty values are left out. With "{{" in it, it
// goes through the file that Apptainer reads after %post instead.
std::string quoted_labels(const ImageSpec& spec) {
  std::string text;
  for (const auto& [name, value] : spec.labels) {
    if (fits_labels_section(value)) continue;
    text += fmt::format("    printf '%s\\n' {} >>\"${{APPTAINER_LABELS:-$SINGULARITY_LABELS}}\"\n",
                        quote_shell(fmt::format("{} {}", label_name(name), value)));
  }
  return text;
}

std::string post_section(std::size_t index, const StageLayout& layout, const ImageSpec* image,
                         const OneFile* alone) {
  const RenderStage& stage = layout.stages()[index];
  std::string text = "\n%post\n    umask 022\n";
  if (layout.bases()[stage.base].archive.empty()) {
    // Older Singularity runs %post without the environment of the image that it starts from.
    text +=
        "    for file in /.singularity.d/env/10-docker*.sh; do if [ -e \"$file\" ]; then . \"$file\"; fi; "
        "done\n";
  }
  text += fmt::format("    . {}/site/environment.sh\n", kOurs);
  if (alone != nullptr) {
    std::vector<const Step*> runs;
    for (const Step* step : stage.steps)
      if (step->kind == StepKind::run) runs.push_back(step);
    text += writing_in_post(runs, "scripts", *alone) + writing_in_post(tests_of(image), "tests", *alone);
  }
  for (const Step* step : stage.steps) text += post_step(*step, layout);
  text += hand_on(index, layout);
  if (image == nullptr) return text;
  text += fmt::format("\n    rm -rf {0}/scripts {0}/copies {0}/site\n", kOurs);
  return text + quoted_labels(*image);
}

std::string image_sections(const ImageSpec& spec) {
  std::string text;
  if (!spec.environment.empty()) text += "\n%environment\n";
  for (const auto& [name, value] : spec.environment) {
    text += fmt::format("    export {}={}\n", variable_name(name), quote_shell(value));
  }
  if (!spec.tests.empty()) text += "\n%test\n";
  for (const Step& test : spec.tests) text += run_script(test, "tests", always_there(false));
  text += "\n%runscript\n    if [ $# -gt 0 ]; then exec \"$@\"; fi\n    exec";
  for (const std::string& word : spec.command) text += " " + shell_word(word);
  text += spec.command.empty() ? " /bin/sh\n" : "\n";
  std::string labels;
  for (const auto& [name, value] : spec.labels) {
    quote_shell(value);  // refuses line ends
    if (!value.empty() && fits_labels_section(value))
      labels += fmt::format("    {} {}\n", label_name(name), value);
  }
  if (!labels.empty()) text += "\n%labels\n" + labels;
  return text + fmt::format("\n%help\n    {}\n    {}\n", summary(spec), generated_line(spec));
}

std::string definition_text(const ImageSpec& spec, const OneFile* alone) {
  StageLayout layout(spec);
  std::string text = definition_header(spec, layout, alone);
  for (std::size_t i = 0; i < layout.stages().size(); ++i) {
    const RenderStage& stage = layout.stages()[i];
    const RenderBase& base = layout.bases()[stage.base];
    const ImageSpec* image = i + 1 == layout.stages().size() ? &spec : nullptr;
    text += bootstrap(base, stage.name) + setup_section(spec, base, alone != nullptr);
    if (alone == nullptr) text += script_files(stage, image);
    text += copied_files(stage, layout) + post_section(i, layout, image, alone);
  }
  return text + image_sections(spec);
}

}  // namespace

std::string render_singularity(const ImageSpec& spec) { return definition_text(spec, nullptr); }

std::string render_inline_singularity(const ImageSpec& spec, const RecipeBook& recipes) {
  const OneFile alone = one_file(spec, recipes, kInlineDefinition);
  return definition_text(spec, &alone);
}

}  // namespace kiln
