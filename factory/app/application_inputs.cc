#include "factory/app/application_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/derive/folder_archive.h"
#include "factory/oci/overlay_tree.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostText = 4u << 20;  // of a script or a requirements file

std::optional<std::string> input_text(const std::string& file, const FileSystem& files) {
  if (file.empty()) return std::nullopt;
  if (!files.exists(file) || files.is_directory(file)) {
    MissingFile missing = describe_missing(files, file);
    throw Error(ExitCode::input, std::move(missing.message), std::move(missing.hint));
  }
  const SourceLocation where{file, 0, 0, ""};
  auto text = files.read(file, kMostText);
  if (!text) throw Error(ExitCode::input, where, "the file is missing");
  if (text->find_first_not_of(" \t\r\n") == std::string::npos)
    throw Error(ExitCode::input, where, "the file is empty");
  if (text->find('\0') != std::string::npos)
    throw Error(ExitCode::input, where, "the file has a NUL byte", "it must be a text file");
  return text;
}

std::optional<std::string> script_text(const std::string& file, const FileSystem& files) {
  auto text = input_text(file, files);
  const std::size_t end = text ? text->find("\r\n") : std::string::npos;
  if (end == std::string::npos) return text;
  const std::string before = text->substr(0, end);
  const auto line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
  const auto column = static_cast<int>(end - (before.rfind('\n') + 1)) + 1;
  throw Error(ExitCode::input, SourceLocation{file, line, column, ""}, "the line ends in CR LF",
              "/bin/sh would read the CR as part of the line: save the script with LF");
}

bool is_folder_of_image(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return normal == path && normal != "/" && normal.has_filename() &&
         first_not_utf8(path) == std::string::npos && std::ranges::none_of(path, is_control);
}

}  // namespace

CopyWords copy_words(const std::string& copy, const std::string& name) {
  const std::size_t colon = copy.rfind(":/");
  if (colon == std::string::npos) return {copy, "/opt/" + name};
  const std::string path = copy.substr(colon + 1);
  if (!is_folder_of_image(path))
    throw Error(ExitCode::usage,
                fmt::format("--copy: '{}' is no path of a folder in an image", without_controls(path)),
                "an absolute path such as /opt/" + name + ", without '.', '..' and a '/' at its end");
  if (is_dropping(path.substr(1) + "/file", false))
    throw Error(ExitCode::usage,
                fmt::format("--copy: kiln empties '{}' in every image", without_controls(path)),
                "another folder, such as /opt/" + name);
  return {copy.substr(0, colon), path};
}

ApplicationInputs read_inputs(const std::string& name, const ApplicationFiles& named, const fs::path& state,
                              const FileSystem& files) {
  if (named.requirements.empty() && named.copy.empty() && named.run.empty())
    throw Error(ExitCode::usage, "nothing to add to the image", "name --requirements, --copy or --run");
  ApplicationInputs inputs;
  inputs.requirements = input_text(named.requirements, files);
  if (!named.copy.empty()) {
    const CopyWords words =
        named.copy_at.empty() ? copy_words(named.copy, name) : CopyWords{named.copy, named.copy_at};
    inputs.files_at = words.at;
    inputs.files = folder_archive(words.folder, state);
  }
  inputs.run = script_text(named.run, files);
  inputs.test = script_text(named.test, files);
  return inputs;
}

void need_inside(const fs::path& folder, const fs::path& named) {
  if (named.empty()) return;
  const fs::path root = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder);
  const fs::path below = fs::weakly_canonical(root / named).lexically_relative(root);
  if (below.empty() || *below.begin() == "..")
    throw Error(ExitCode::input, SourceLocation{(folder / named).string(), 0, 0, ""},
                "is a symbolic link out of the folder of the document", "copy the file there");
}

}  // namespace kiln
