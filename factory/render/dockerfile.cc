// Dockerfile: one stage for each base, one for each stage of the plan, the image last.
//
// Scripts are mounted from the build context, so no layer holds them, and so are the site's files (pip's and
// git's configuration, certificates), which come as optional build secrets: they work without being given in
// docker (BuildKit), podman and buildah alike, and never reach a layer or the history. A stage upon the image
// tests it, where it is asked for. In the form of one file, a stage of its own writes the scripts, and no
// other file is read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json.h"
#include "factory/base/quote.h"
#include "factory/render/one_file.h"
#include "factory/render/render.h"
#include "factory/render/stage_layout.h"

namespace kiln {
namespace {

constexpr std::string_view kMounts = "/run/kiln";

// What the build ends without.
std::string secrets_header(const ImageSpec& spec) {
  const auto secrets = secrets_of(spec, {StepKind::run});
  std::string text = secrets.empty() ? "" : "# Steps need secrets, which no layer keeps; hand in each:\n";
  for (const auto& [name, steps] : secrets)
    text += fmt::format("#   --secret id={},src=FILE      # for {}\n", name, fmt::join(steps, ", "));
  return text;
}

// `alone`: nullptr for the form with a build context.
std::string dockerfile_header(const ImageSpec& spec, const StageLayout& layout, const OneFile* alone) {
  std::string image = one_line(fmt::format("{}:{}", spec.repository, spec.tag));
  std::string text = fmt::format("# {}\n#\n# {}\n#\n# To build it here, without kiln:\n",
                                 generated_line(spec), summary(spec));
  if (alone != nullptr) text += rootfs_command(layout, *alone);
  if (alone == nullptr && layout.needs_rootfs())
    text += "#   sh rootfs.sh      # first: makes the root file system of the base\n";
  std::string file = alone != nullptr ? fmt::format(" -f {}", shell_word(alone->name)) : "";
  text += fmt::format("#   docker build -t {}{} .      # with BuildKit; or: podman build, buildah bud\n",
                      image, file);
  text +=
      "# To hand in the machine's configuration, add any of:\n"
      "#   --secret id=pip.conf,src=/etc/pip.conf\n"
      "#   --secret id=gitconfig,src=/etc/gitconfig\n"
      "#   --secret id=ca-certificates.crt,src=/etc/ssl/certs/ca-certificates.crt\n"
      "#   --build-arg http_proxy=URL      # podman and buildah take proxies from the environment\n";
  text += secrets_header(spec);
  if (!spec.tests.empty())
    text += fmt::format("# To test it:\n#   docker build --target {}{} .\n", kTestStage, file);
  return alone == nullptr ? text : text + rootfs_comment(layout, *alone);
}

// What a mount of the build context is taken from.
std::string source_of(const std::string& path, const OneFile* alone) {
  return alone != nullptr ? fmt::format("from={},source={}/{}", kFilesStage, kFilesFolder, path)
                          : "source=" + path;
}

std::string mount_of_scripts(const std::string& folder, const OneFile* alone) {
  return fmt::format("--mount=type=bind,{},target={}/{}", source_of("scripts/" + folder, alone), kMounts,
                     folder);
}

std::string run_instruction(const Step& step, const StageLayout& layout, const OneFile* alone) {
  std::string folder = script_folder(step);
  std::vector<std::string> lines = {
      mount_of_scripts(folder, alone),
      fmt::format("--mount=type=bind,{},target={}/site", source_of("site", alone), kMounts),
      fmt::format("--mount=type=secret,id=pip.conf,target={}/secrets/pip.conf", kMounts),
      fmt::format("--mount=type=secret,id=gitconfig,target={}/secrets/gitconfig", kMounts),
      fmt::format("--mount=type=secret,id=ca-certificates.crt,target={}/secrets/ca-certificates.crt",
                  kMounts),
  };
  for (const std::string& path : step.mount)
    lines.push_back(fmt::format("--mount=type=bind,from={0},source={1},target={1}",
                                layout.stages()[layout.copy_of(step).from].name, plain_path(path)));
  for (const std::string& name : step.secrets)
    lines.push_back(
        fmt::format("--mount=type=secret,id={0},target={1}/secrets/{0},required=true", name, kMounts));
  lines.push_back(fmt::format(". {}/site/environment.sh &&", kMounts));
  for (std::string& line : script_lines(step, fmt::format("{}/{}", kMounts, folder), always_there(true))) {
    lines.push_back(std::move(line));
  }
  return "RUN " + continued(lines, "    ");
}

std::string copy_instructions(const Step& step, const StageLayout& layout) {
  std::string text;
  const std::string& from = layout.stages()[layout.copy_of(step).from].name;
  for (const std::string& path : step.copy)
    text += fmt::format("COPY --from={0} {1} {1}\n", from, plain_path(path));
  return text;
}

std::string base_stage(const RenderBase& base) {
  std::string title = one_line(base.step->title);
  if (!base.step->tagged.empty()) title += ": " + plain_reference(base.step->tagged);
  if (base.archive.empty()) {
    return fmt::format("\n# {}\nFROM {} AS {}\n", title, plain_reference(base.step->reference), base.name);
  }
  return fmt::format("\n# {}\nFROM scratch AS {}\nADD {} /\n", title, base.name, base.archive);
}

// The scripts, in no layer of the image.
std::string files_stage(const ImageSpec& spec, const StageLayout& layout, const OneFile& alone) {
  std::vector<std::string> paths = context_paths(scripts_of(spec));
  if (paths.empty()) return "";
  paths.insert(paths.end(), {"site/environment.sh", "site/apt.conf"});
  return fmt::format("\n# Files that the steps run; no layer of the image contains them.\nFROM {} AS {}\n{}",
                     layout.bases().front().name, kFilesStage, writing_instructions(alone, paths));
}

// Tests the image when it is asked for; the last stage is the image again.
std::string test_stage(const ImageSpec& spec, const StageLayout& layout, const OneFile* alone) {
  if (spec.tests.empty()) return "";
  const std::string& image = layout.stages().back().name;
  std::string text = fmt::format("\nFROM {} AS {}\n", image, kTestStage);
  for (const Step& test : spec.tests) {
    std::string folder = script_folder(test);
    std::vector<std::string> lines = {mount_of_scripts(folder, alone)};
    for (std::string& line : script_lines(test, fmt::format("{}/{}", kMounts, folder), always_there(false)))
      lines.push_back(std::move(line));
    text += fmt::format("\n# {}\nRUN {}", one_line(test.title), continued(lines, "    "));
  }
  return text + fmt::format("\nFROM {}\n", image);
}

std::string stage_text(const RenderStage& stage, const StageLayout& layout, const OneFile* alone) {
  std::string text = fmt::format("\nFROM {} AS {}\n", layout.bases()[stage.base].name, stage.name);
  for (const Step* step : stage.steps) {
    text += fmt::format("\n# {}\n", one_line(step->title));
    text += step->kind == StepKind::copy ? copy_instructions(*step, layout)
                                         : run_instruction(*step, layout, alone);
  }
  return text;
}

// NAME="value" pairs as one instruction; nothing when there are none.
std::string pairs_instruction(std::string_view instruction, const std::map<std::string, std::string>& pairs,
                              const std::string& (*checked_name)(const std::string&)) {
  if (pairs.empty()) return "";
  std::vector<std::string> lines;
  for (const auto& [name, value] : pairs) {
    lines.push_back(fmt::format("{}={}", checked_name(name), quote_docker_env(value)));
  }
  return fmt::format("\n{} {}", instruction, continued(lines, std::string(instruction.size() + 1, ' ')));
}

std::string dockerfile_text(const ImageSpec& spec, const OneFile* alone) {
  StageLayout layout(spec);
  std::string text = dockerfile_header(spec, layout, alone);
  for (const RenderBase& base : layout.bases()) text += base_stage(base);
  if (alone != nullptr) text += files_stage(spec, layout, *alone);
  for (const RenderStage& stage : layout.stages()) text += stage_text(stage, layout, alone);
  text += pairs_instruction("ENV", spec.environment, variable_name);
  text += pairs_instruction("LABEL", spec.labels, label_name);
  if (!spec.command.empty()) {
    for (const std::string& word : spec.command) quote_shell(word);  // refuses line ends, as everywhere else
    // A base's own entry point would take the command for its words.
    text += fmt::format("\nENTRYPOINT []\nCMD {}\n",
                        Json(spec.command).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return text + test_stage(spec, layout, alone);
}

}  // namespace

std::string render_dockerfile(const ImageSpec& spec) { return dockerfile_text(spec, nullptr); }

std::string render_inline_dockerfile(const ImageSpec& spec, const RecipeBook& recipes) {
  const OneFile alone = one_file(spec, recipes, kInlineDockerfile);
  return dockerfile_text(spec, &alone);
}

}  // namespace kiln
