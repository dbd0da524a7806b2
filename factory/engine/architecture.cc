#include "factory/engine/architecture.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <nlohmann/json.hpp>

#include "factory/base/text.h"

namespace kiln {
namespace {

// QEMU's and the kernel's words for a processor.
std::string machine_of(const std::string& architecture) {
  if (architecture == "amd64") return "x86_64";
  if (architecture == "arm64") return "aarch64";
  return architecture;  // ppc64le, riscv64, s390x: OCI has the same names
}

constexpr const char* kHandlers = "/proc/sys/fs/binfmt_misc/";

std::string handler_name(const std::string& architecture) { return "qemu-" + machine_of(architecture); }

// What a line of a handler's file has behind its first word: "enabled" has "", "flags: POF" has "POF".
std::optional<std::string> line_of(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(word)) return std::string(trimmed(line.substr(word.size())));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return std::nullopt;
}

// "qemu-aarch64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)"
std::string version_in(const std::string& said) {
  constexpr std::string_view kWord = " version ";
  const std::size_t at = said.find(kWord);
  if (at == std::string::npos) return "";
  const std::string rest = said.substr(at + kWord.size());
  return rest.substr(0, rest.find_first_of(" \n("));
}

// Debian registers a link whose name makes QEMU expect the kernel's arguments, so the program behind it is
// asked.
fs::path behind_links(const fs::path& program) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  return error ? program : real;
}

}  // namespace

std::string own_architecture() {
  utsname system{};
  ::uname(&system);
  std::string machine = system.machine;
  for (const char* architecture : {"amd64", "arm64"})
    if (machine == machine_of(architecture)) return architecture;
  return machine;
}

std::string architecture_of(const Step& step) {
  const Json inputs = inputs_of(step);
  auto found = inputs.find("architecture");
  if (found == inputs.end()) return "";
  std::string architecture = found->get<std::string>();
  return architecture.substr(0, architecture.find('/'));
}

std::string architecture_of(const ResolvedImage& image) {
  return image.architecture().substr(0, image.architecture().find('/'));
}

bool can_run(const std::string& architecture, const FileSystem& files) {
  if (architecture.empty() || architecture == own_architecture()) return true;
  auto handler = files.read(kHandlers + handler_name(architecture));
  if (!handler || !line_of(*handler, "enabled")) return false;
  if (line_of(files.read(std::string(kHandlers) + "status").value_or(""), "disabled")) return false;
  return line_of(*handler, "flags:").value_or("").find('F') != std::string::npos;
}

std::string emulator_of(const std::string& architecture, const FileSystem& files, CommandRunner& runner,
                        const std::map<std::string, std::string>& environment) {
  if (architecture.empty() || architecture == own_architecture() || !can_run(architecture, files)) return "";
  std::string name = handler_name(architecture);
  const auto program = line_of(files.read(kHandlers + name).value_or(""), "interpreter ");
  if (!program || !files.exists(*program)) return name;  // the kernel holds it open, wherever it was
  const CommandResult result =
      runner.ask({behind_links(*program).string(), "--version"}, environment, std::chrono::seconds(10));
  const std::string version = result.ok() ? version_in(result.output) : "";
  return version.empty() ? name : name + " " + version;
}

std::string why_not_here(const std::string& architecture) {
  return fmt::format("is for {}, and this machine is {}", architecture, own_architecture());
}

void check_architecture(const Step& step, const FileSystem& files) {
  std::string wanted = architecture_of(step);
  if (can_run(wanted, files)) return;
  throw Error(ExitCode::input, fmt::format("{} {}", step.title, why_not_here(wanted)), kOtherMachines);
}

}  // namespace kiln
