// kiln module: files with which a cluster offers images as modules.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/cli/image_name.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/cli/question.h"
#include "factory/oci/blob_store.h"
#include "factory/sif/sif_reader.h"
#include "registry/deploy/container_runtime.h"
#include "registry/modules/module_files.h"

namespace kiln {
namespace {

struct ModuleOptions {
  std::vector<std::string> images;
  std::string output;
  std::string name;
  std::string runtime = "apptainer";
  std::string gpu;
  std::vector<std::string> programs;
  std::vector<std::string> binds;
};

// The image of the index whose SIF this is, by whatever name.
std::optional<ImageRecord> record_of_sif(const fs::path& file, Invocation& invocation) {
  if (!invocation.has_index()) return std::nullopt;
  const BlobStore store = BlobStore::reading(invocation.state().store());
  for (const IndexEntry& entry : invocation.index(Index::Mode::read).entries()) {
    const Attachment* sif = entry.image.attachment("sif");
    std::error_code unreadable;
    if (sif != nullptr && fs::equivalent(store.path(sif->blob.digest), file, unreadable)) return entry.image;
  }
  return std::nullopt;
}

ModuleImage module_of_sif(const std::string& text, const ModuleOptions& options, Invocation& invocation) {
  const std::string path = fs::absolute(text).lexically_normal().string();
  sif::read_sif(ReadOnlyFile(path)).primary();
  if (const auto record = record_of_sif(path, invocation)) {
    ModuleImage module = module_image(*record, reference_paths(invocation));
    module.image.sif = path;
    if (!options.name.empty()) call_module(module, options.name);
    return module;
  }
  return module_of_reference({path, "", path, "", options.gpu}, options.name);
}

ModuleImage module_of(const std::string& text, const ModuleOptions& options, Invocation& invocation) {
  if (text.find("://") == text.npos && (text.ends_with(".sif") || invocation.files.exists(text))) {
    invocation.need_file(text);
    return module_of_sif(text, options, invocation);
  }
  if (const auto record = find_record(text, invocation)) {
    ModuleImage module = module_image(*record, reference_paths(invocation));
    if (!options.name.empty()) call_module(module, options.name);
    return module;
  }
  if (text.find("://") != text.npos) {
    DeployedImage image = named_image(text, {"IMAGE", 0, 0, ""});
    image.gpu_vendor = options.gpu;
    return module_of_reference(image, options.name);
  }
  const ImageName name = name_of(text, invocation);
  throw Error(ExitCode::usage, fmt::format("nodes cannot run '{}' of {}", on_one_line(text), name.transport),
              "name an image of the index, a reference in a registry or a SIF file; `kiln sif` makes one");
}

std::vector<ModuleImage> modules_of(const ModuleOptions& options, Invocation& invocation) {
  if (options.images.size() > 1 && !options.name.empty())
    throw Error(ExitCode::usage, "--name names one module, and there are several images");
  std::vector<ModuleImage> modules;
  for (const std::string& text : options.images) {
    ModuleImage module = module_of(text, options, invocation);
    if (!options.gpu.empty()) module.image.gpu_vendor = options.gpu;
    if (!options.programs.empty()) module.programs.clear();
    for (const std::string& program : options.programs)
      module.programs.push_back(read_module_program(program));
    for (const ModuleImage& other : modules)
      if (other.name == module.name && other.version == module.version)
        throw Error(ExitCode::usage,
                    fmt::format("two images are the module {}/{}", module.name, module.version),
                    "--name gives one of them another name");
    modules.push_back(std::move(module));
  }
  return modules;
}

// What is a part of options and lists that commas and colons divide.
void check_folders(const ModuleOptions& options) {
  for (const std::string& path : options.binds)
    if (!path.starts_with('/') || path.find_first_of(":,\n") != path.npos ||
        first_not_utf8(path) != path.npos)
      throw Error(ExitCode::usage, fmt::format("--bind '{}' is no absolute path", on_one_line(path)),
                  "without commas and colons, such as --bind /scratch");
  if (fs::absolute(options.output).string().find(':') != std::string::npos)
    throw Error(ExitCode::usage, "--output has a colon in its path, which divides folders in PATH");
}

void run_module(const ModuleOptions& options, Invocation& invocation) {
  check_folders(options);
  const std::vector<ModuleImage> modules = modules_of(options, invocation);
  const ModuleFiles made = module_files(modules, {*kContainerRuntimes.find(options.runtime), options.binds});
  const fs::path folder = options.output;
  for (const ModuleFile& file : made.files) {
    const fs::path path = folder / file.path;
    invocation.files.write_output(path, file.bytes);
    constexpr fs::perms kRun = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    if (file.executable) fs::permissions(path, kRun, fs::perm_options::add);
    say("{}\n", path.string());
  }
  for (const std::string& note : made.notes) invocation.note("note: " + note);
  invocation.note(fmt::format("module use {} && module load {}/{}", (fs::absolute(folder) / "lmod").string(),
                              modules.front().name, modules.front().version));
}

}  // namespace

CLI::App* add_module(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ModuleOptions>();
  CLI::App* command =
      add_below(app, "module",
                "Write the files with which a cluster offers images as modules, with wrappers of programs",
                "kiln module pytorch:2.6.0-distro-x86_64-trixie -o /apps/kiln\n"
                "kiln module pytorch.sif --name pytorch/2.6.0 --program python3 -o /apps/kiln\n"
                "module use /apps/kiln/lmod && module load pytorch/2.6.0");
  add_value(*command, "image", options->images, "IMAGE",
            "a tag of the index, a SIF file, or a reference such as docker://HOST/NAME:TAG; may be "
            "repeated")
      ->required();
  add_value(*command, "-o,--output", options->output, "DIR", "folder to write to")->required();
  add_value(*command, "--name", options->name, "NAME/VERSION",
            "name of the module (default: repository and tag of the image)");
  add_list(*command, "--program", options->programs, "NAME",
           "program that gets a wrapper, a name or an absolute path in the image; may be "
           "repeated (default: python3 and python, if the image has Python)");
  add_choice(*command, "--runtime", options->runtime, kContainerRuntimes.all(),
             "container runtime of the wrappers")
      ->type_name("NAME");
  add_choice(*command, "--gpu", options->gpu, {"nvidia", "amd"},
             "vendor whose GPUs the programs get (default: that of the image)")
      ->type_name("VENDOR");
  add_list(*command, "--bind", options->binds, "DIR",
           "folder of the host that the programs see; may be repeated");
  command->callback([options, &invocation] { run_module(*options, invocation); });
  return command;
}

}  // namespace kiln
