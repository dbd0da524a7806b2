#include "factory/render/one_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/error.h"
#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/render/render.h"

namespace kiln {
namespace {

constexpr std::string_view kEnd = "KILN";
constexpr std::size_t kMostOfFile = std::size_t{64} << 10;
constexpr std::size_t kMostOfAll = std::size_t{256} << 10;
constexpr std::size_t kMostOfLine = 60'000;      // BuildKit reads lines of less than 64 KiB
constexpr std::size_t kMostOfCommand = 120'000;  // Linux: 128 KiB a word, and RUN's command is one

constexpr const char* kHint = "leave out --inline: kiln generate -o DIR writes such files next to the two";

[[noreturn]] void refuse(std::string_view path, std::size_t size, std::string_view why) {
  throw Error(ExitCode::input, fmt::format("{} ({} bytes) does not fit into one file: {}", path, size, why),
              kHint);
}

// Nobody could read, review or send it.
void check_text(const std::string& path, const std::string& bytes) {
  if (bytes.size() > kMostOfFile)
    refuse(path, bytes.size(), fmt::format("files of up to {} bytes do", kMostOfFile));
  std::size_t at = std::min({first_not_utf8(bytes), bytes.find('\0'), bytes.find('\r')});
  if (at != std::string::npos)
    refuse(path, bytes.size(), fmt::format("it is no plain text: see its byte {}", at + 1));
  for (std::string_view line : split(bytes, '\n'))
    if (line.size() > kMostOfLine)
      refuse(path, bytes.size(), fmt::format("a line of it has {} bytes", line.size()));
}

std::vector<const Step*> bases_of(const StageLayout& layout) {
  std::vector<const Step*> bases;
  for (const RenderBase& base : layout.bases())
    if (!base.archive.empty()) bases.push_back(base.step);
  return bases;
}

// Apptainer takes these lines for its own wherever they stand, and replaces {{ name }}.
bool fits_heredoc(const std::string& bytes) {
  if (!bytes.ends_with('\n') || contains(bytes, "{{")) return false;
  auto lines = split(bytes, '\n');
  return std::ranges::none_of(lines, [](std::string_view line) {
    std::string_view bare = trimmed(line);
    return bare == kEnd || bare.starts_with('%') || lower_case(bare).starts_with("bootstrap");
  });
}

// printf's words and where they go; a text without a line end at its end keeps that.
std::vector<std::string> printf_lines(std::string_view path, const std::string& bytes,
                                      std::string (*quote)(std::string_view)) {
  std::vector<std::string_view> lines = split(bytes, '\n');
  const std::string_view last = lines.back();
  lines.pop_back();
  std::vector<std::string> out;
  if (!lines.empty()) {
    out.emplace_back("printf '%s\\n'");
    for (std::string_view line : lines) out.push_back("  " + quote(line));
    out.push_back(fmt::format("  >{}", path));
  }
  if (!last.empty() || lines.empty()) {
    if (!out.empty()) out.back() += " &&";
    out.push_back(fmt::format("printf '%s' {} >{}{}", quote(last), lines.empty() ? "" : ">", path));
  }
  return out;
}

std::string folder_of(std::string_view path) { return std::string(path.substr(0, path.rfind('/'))); }

}  // namespace

std::vector<const Step*> scripts_of(const ImageSpec& spec) {
  std::vector<const Step*> scripts;
  for (const Stage& stage : spec.stages)
    for (const Step& step : stage.steps)
      if (step.kind == StepKind::run) scripts.push_back(&step);
  for (const Step& test : spec.tests) scripts.push_back(&test);
  return scripts;
}

std::vector<std::string> context_paths(const std::vector<const Step*>& steps) {
  std::set<std::string> paths;
  for (const Step* step : steps)
    for (const std::string& path : step->files)
      paths.insert(fmt::format("scripts/{}/{}", script_folder(*step), path));
  return {paths.begin(), paths.end()};
}

OneFile one_file(const ImageSpec& spec, const RecipeBook& recipes, std::string_view ending) {
  OneFile file{one_line(fmt::format("{}_{}{}", spec.repository, spec.tag, ending)), {}};
  const StageLayout layout(spec);
  std::map<std::string, std::string> context = render_context(spec, recipes);
  std::vector<const Step*> steps = scripts_of(spec);
  for (const Step* base : bases_of(layout)) steps.push_back(base);
  std::size_t all = 0;
  for (const std::string& path : context_paths(steps)) {
    check_text(path, context.at(path));
    all += context.at(path).size();
    file.context[path] = std::move(context.at(path));
  }
  if (all > kMostOfAll)
    throw Error(ExitCode::input,
                fmt::format("the {} files of '{}' have {} bytes, which is too much for one file of up to {}",
                            file.context.size(), spec.request.id, all, kMostOfAll),
                kHint);
  if (layout.needs_rootfs()) file.context["rootfs.sh"] = rootfs_script(spec, layout, false);
  for (const char* path : {"site/environment.sh", "site/apt.conf"})
    file.context[path] = std::move(context.at(path));
  return file;
}

std::string writing_instructions(const OneFile& file, const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    const std::string& bytes = file.context.at(path);
    const std::string target = fmt::format("{}/{}", kFilesFolder, path);
    std::vector<std::string> lines = {fmt::format("mkdir -p {} &&", shell_word(folder_of(target)))};
    for (std::string& line : printf_lines(shell_word(target), bytes, quote_shell_text))
      lines.push_back(std::move(line));
    std::string command = "RUN " + continued(lines, "    ");
    if (command.size() > kMostOfCommand)
      refuse(path, bytes.size(), fmt::format("quoted for the shell it has {} bytes", command.size()));
    text += command;
  }
  return text;
}

std::string writing_commands(std::string_view path, const std::string& bytes, std::string_view indent) {
  if (fits_heredoc(bytes)) return fmt::format("{}cat >{} <<'{}'\n{}{}\n", indent, path, kEnd, bytes, kEnd);
  return std::string(indent) + continued(printf_lines(path, bytes, quote_shell), indent);
}

std::string rootfs_command(const StageLayout& layout, const OneFile& file) {
  if (!layout.needs_rootfs()) return "";
  return fmt::format(
      "#   sed -n 's/^#|//p' {} | sh      # first: makes the root file system of the base, by the lines "
      "below\n",
      shell_word(file.name));
}

std::string rootfs_comment(const StageLayout& layout, const OneFile& file) {
  if (!layout.needs_rootfs()) return "";
  std::string script = "set -eu\nwork=$(mktemp -d)\ntrap 'rm -rf \"$work\"' EXIT\n";
  std::vector<std::string> paths = context_paths(bases_of(layout));
  std::set<std::string> folders;
  for (const std::string& path : paths) folders.insert(folder_of(path));
  for (const std::string& folder : folders)
    script += fmt::format("mkdir -p \"$work\"/{}\n", shell_word(folder));
  paths.emplace_back("rootfs.sh");
  for (const std::string& path : paths)
    script += writing_commands(fmt::format("\"$work\"/{}", shell_word(path)), file.context.at(path), "");
  script += "sh \"$work/rootfs.sh\" </dev/null\nmv \"$work\"/rootfs*.tar .\n";
  std::string text = "#\n";
  script.pop_back();
  for (std::string_view line : split(script, '\n')) text += fmt::format("#|{}\n", line);
  return text;
}

}  // namespace kiln
