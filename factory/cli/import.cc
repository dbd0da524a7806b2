// kiln import: existing Dockerfiles and definition files → recipes and a matrix, in a folder of their own.
#include "factory/import/import.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/reading.h"
#include "factory/cli/invocation.h"
#include "factory/cli/options.h"
#include "factory/cli/print.h"
#include "factory/os/temporary_folder.h"

namespace kiln {
namespace {

struct ImportRequest {
  std::string folder;
  std::string output = "imported";
  std::string format = "text";
  bool dry_run = false;
  std::vector<std::string> bases;  // "FROM=IMAGE"
  ImportOptions import;
};

// The whole folder or nothing: written beside its place, then renamed. What a killed import left goes first.
void write(const Import& import, const fs::path& output, FileSystem& files) {
  const fs::path plain = fs::absolute(output.has_filename() ? output : output.parent_path());
  files.make_directories(plain.parent_path());
  const TemporaryFolder part(plain.parent_path(), plain.filename().string() + ".part-");
  const fs::path whole = part.path() / "whole";
  for (const auto& [path, bytes] : import.files) files.write(whole / path, bytes);
  if (files.is_directory(plain)) files.remove_all(plain);  // it is empty
  files.rename(whole, plain);
}

void report(const Import& import, const ImportRequest& options, Invocation& invocation) {
  if (options.format == "json") return print_json(to_json(import));
  for (const ImportNote& note : import.notes) tell(format(note));
  for (const ImportDifference& one : import.differences) tell(format(one));
  invocation.note(fmt::format(
      "{} images from {} files{}; {} remarks, {} differences between twins", import.images.size(),
      [&] {
        std::size_t count = 0;
        for (const ImportedImage& image : import.images) count += image.files.size();
        return count;
      }(),
      import.own.empty() ? "" : fmt::format(", {} more are kiln's own", import.own.size()),
      import.notes.size(), import.differences.size()));
  if (!options.dry_run) say("{}\n", (fs::path(options.output) / import.matrix).string());
}

void run_import(const ImportRequest& options, Invocation& invocation) {
  if (!invocation.files.is_directory(options.folder))
    throw Error(ExitCode::input, fmt::format("there is no folder '{}'", options.folder));
  if (!is_name(options.import.name))
    throw Error(ExitCode::usage, fmt::format("'{}' is no name for a matrix", options.import.name),
                "letters, digits and _ . + -");
  bool taken = invocation.files.exists(options.output) && (!invocation.files.is_directory(options.output) ||
                                                           !invocation.files.list(options.output).empty());
  if (!options.dry_run && taken)
    throw Error(ExitCode::usage,
                fmt::format("{} is there already, and nothing is overwritten", options.output),
                "name another folder with -o, or look first with --dry-run");
  ImportOptions how = options.import;
  for (const std::string& one : options.bases) {
    const std::size_t equals = one.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == one.size())
      throw Error(ExitCode::usage, fmt::format("'{}' is no FROM=IMAGE for --base", one),
                  "FROM is the base that the files name, IMAGE the image of a registry that replaces it");
    how.bases[one.substr(0, equals)] = one.substr(equals + 1);
  }
  how.compilers = invocation.graph_compilers({});
  Import import = import_folder(invocation.files, options.folder, how, invocation.cpus());
  if (!options.dry_run) write(import, options.output, invocation.files);
  report(import, options, invocation);
}

}  // namespace

CLI::App* add_import(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ImportRequest>();
  CLI::App* command = add_below(
      app, "import", "Make recipes and a matrix from existing Dockerfiles and Singularity definition files",
      "kiln import ~/containers -o imported\n"
      "kiln import ~/containers --dry-run --format json\n"
      "kiln import ~/containers --base ./base.sif=docker.io/library/ubuntu:22.04");
  add_value(*command, "folder", options->folder, "DIR", "folder of these files, with all folders below")
      ->required();
  add_value(*command, "-o,--output", options->output, "DIR", "new folder for recipes/ and matrix/")
      ->capture_default_str();
  add_value(*command, "--name", options->import.name, "NAME", "name of the matrix")->capture_default_str();
  add_value(*command, "--cpu", options->import.cpu, "NAME", "target of images that name none")
      ->capture_default_str();
  add_value(*command, "--gpu", options->import.gpu, "NAME", "accelerator of GPU images that name none")
      ->capture_default_str();
  add_list(*command, "--base", options->bases, "FROM=IMAGE",
           "use IMAGE of a registry in files that start from FROM; may be repeated");
  add_choice(*command, "--format", options->format, {"text", "json"},
             "format of the report: text (remarks on stderr) or json (all on stdout)");
  command->add_flag("-n,--dry-run", options->dry_run, "print the report only");
  command->callback([options, &invocation] { run_import(*options, invocation); });
  return command;
}

}  // namespace kiln
