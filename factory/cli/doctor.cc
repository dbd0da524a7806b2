// kiln doctor: what this machine has of what kiln needs.
#include <fmt/format.h>
#include <pwd.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <sstream>

#include "base/cgroup.h"
#include "base/processors.h"
#include "base/version.h"
#include "cli/invocation.h"
#include "cli/print.h"
#include "cli/table.h"
#include "distribution/http.h"
#include "image/engine/engine.h"

namespace kiln {
namespace {

struct Tool {
  const char* name;
  std::vector<std::string> version_arguments;
  const char* least;
  bool required;
  const char* purpose;
};

const std::vector<Tool>& tools() {
  static const std::vector<Tool> kTools = {
      {"ninja", {"--version"}, "1.10", true, "schedules the steps"},
      {"buildah", {"--version"}, "1.23", true, "runs the steps"},
      {"ip", {"-V"}, "5.0", true, "brings up the loopback device for tests"},
      {"skopeo", {"--version"}, "1.2", false, "pulls base images from registries"},
      {"mmdebstrap", {"--version"}, "1.0", false, "makes Debian bases"},
      {"apptainer", {"--version"}, "1.1", false, "runs SIF images"},
      {"git", {"--version"}, "2.20", false, "asks where a pinned commit comes from"},
      {"shellcheck", {"--version"}, "0.8", false, "checks recipe scripts"},
  };
  return kTools;
}

// The first number of the output that has a point ("ip utility, iproute2-6.1.0"), else the first at all.
std::string version_in(const std::string& output) {
  std::string first = "?";
  std::size_t start = 0;
  while ((start = output.find_first_of("0123456789", start)) != std::string::npos) {
    std::size_t end = std::min(output.find_first_not_of("0123456789.", start), output.size());
    std::string number = output.substr(start, end - start);
    if (number.find('.') != std::string::npos) return number;
    if (first == "?") first = number;
    start = end;
  }
  return first;
}

std::string found_version(const Tool& tool, Invocation& invocation) {
  if (!invocation.runner.find_program(tool.name)) return "";
  Command command;
  command.argv = {tool.name};
  command.argv.insert(command.argv.end(), tool.version_arguments.begin(), tool.version_arguments.end());
  command.environment = invocation.child_environment();
  command.limits.wall = std::chrono::seconds(10);
  return version_in(invocation.runner.run(command).output);
}

bool enough(const std::string& found, const char* least) {
  return found != "?" && !found.empty() && Version(found) >= Version(least);
}

std::string free_space(const fs::path& folder) {
  fs::path existing = folder;
  while (!fs::exists(existing) && existing.has_parent_path()) existing = existing.parent_path();
  struct statvfs space {};
  if (::statvfs(existing.c_str(), &space) != 0) return "?";
  return fmt::format("{} GB", space.f_bavail * space.f_frsize / 1'000'000'000);
}

// A line of /etc/subuid for us, by name or number (subuid(5)).
bool has_subordinate_ids(const FileSystem& files) {
  std::istringstream lines(files.read("/etc/subuid").value_or(""));
  const passwd* user = ::getpwuid(::geteuid());
  std::string name = user != nullptr ? user->pw_name : "";
  for (std::string line; std::getline(lines, line);) {
    std::string owner = line.substr(0, line.find(':'));
    if (owner == name || owner == std::to_string(::geteuid())) return true;
  }
  return false;
}

// As steps get them: without root inside a user namespace.
bool can_have_own_processes(Invocation& invocation) {
  Command command;
  if (::geteuid() != 0) command.argv = {"buildah", "unshare", "--"};
  command.argv.insert(command.argv.end(), {"unshare", "--pid", "--fork", "--mount-proc", "true"});
  command.environment = invocation.child_environment();
  command.limits.wall = std::chrono::seconds(10);
  return invocation.runner.find_program(command.argv.front()) && invocation.runner.run(command).ok();
}

// How limits.memory of the site file is held here, and the peak of each step measured.
void add_memory(const Site& site, Table& table) {
  const auto place = find_cgroup_place();
  const std::uint64_t limit = site.step_limits.memory;
  table.add({"memory of steps", place ? fmt::format("cgroup v{}", place->version) : "by watching", "",
             place ? "ok" : "optional",
             fmt::format("{}; this machine has {}",
                         limit > 0 ? "at most " + memory_text(limit) + " each" : "no limit of the site",
                         memory_text(usable_memory()))});
}

// What the site file says, and the programs that it names. False when one of those is missing.
bool add_site(const Site& site, const Invocation& invocation, Table& table) {
  table.add({"site file", site.file.empty() ? "-" : site.file, "", site.file.empty() ? "defaults" : "ok",
             "what is true of this machine or centre"});
  if (site.launcher.empty()) return true;
  const std::optional<fs::path> launcher = invocation.runner.find_program(site.launcher.front());
  table.add({"launcher", launcher ? launcher->string() : "-", site.launcher.front(),
             launcher ? "ok" : "MISSING", "starts each step"});
  return launcher.has_value();
}

// Empty, or what to do where no container can be made.
std::string bare_chroot(const FileSystem& files) {
  try {
    need_mounted_root(files);
    return "";
  } catch (const Error& error) {
    return error.hint();
  }
}

void run_doctor(Invocation& invocation) {
  const Site site = invocation.site();
  Table table({"WHAT", "FOUND", "NEEDED", "", "FOR"});
  bool missing = false;
  for (const Tool& tool : tools()) {
    std::string found = found_version(tool, invocation);
    bool good = enough(found, tool.least);
    missing |= tool.required && !good;
    table.add({tool.name, found.empty() ? "-" : found, std::string(">=") + tool.least,
               good ? "ok" : (tool.required ? "MISSING" : "optional"), tool.purpose});
  }
  const std::string curl = http_version();
  table.add({"libcurl", curl.empty() ? "-" : curl, "", curl.empty() ? "optional" : "ok",
             "publishes to registries"});
  table.add({"archspec tables", KILN_ARCHSPEC_VERSION, "", "ok",
             fmt::format("{} microarchitectures", invocation.cpus().names().size())});
  bool may_build = ::geteuid() == 0 || has_subordinate_ids(invocation.files);
  missing |= !may_build;
  table.add({"user", ::geteuid() == 0 ? "root" : "not root", "root, or subordinate ids",
             may_build ? "ok" : "MISSING", "files of images belong to many users (/etc/subuid)"});
  bool alone = can_have_own_processes(invocation);
  table.add({"PID namespace", alone ? "yes" : "-", "", alone ? "ok" : "optional",
             "nothing that a step starts outlives it (docs/isolation.md)"});
  add_memory(site, table);
  missing |= !add_site(site, invocation, table);
  std::string remedy = bare_chroot(invocation.files);
  missing |= !remedy.empty();
  table.add({"root folder", remedy.empty() ? "mounted" : "bare chroot", "a mount point",
             remedy.empty() ? "ok" : "MISSING", remedy.empty() ? "containers are made below it" : remedy});
  table.add(
      {"free space", free_space(invocation.state().root()), "", "", invocation.state().root().string()});
  print_text(table.text());
  if (missing)
    throw Error(ExitCode::tool_missing, "something that builds need is missing",
                "run ci/setup, or install it");
}

}  // namespace

CLI::App* add_doctor(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("doctor", "Check what this machine has of what kiln needs, and the site file");
  command->footer("kiln doctor");
  command->callback([&invocation] { run_doctor(invocation); });
  return command;
}

}  // namespace kiln
