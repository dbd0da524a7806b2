#include "image/engine/architecture.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

// QEMU's and the kernel's words for a processor.
std::string machine_of(const std::string& architecture) {
  if (architecture == "amd64") return "x86_64";
  if (architecture == "arm64") return "aarch64";
  return architecture;  // ppc64le, riscv64, s390x: OCI has the same names
}

bool has_line(std::string_view text, std::string_view begin, std::string_view part) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(begin) && line.substr(begin.size()).find(part) != line.npos) return true;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
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
  auto handler = files.read("/proc/sys/fs/binfmt_misc/qemu-" + machine_of(architecture));
  return handler && has_line(*handler, "enabled", "") && has_line(*handler, "flags:", "F");
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
