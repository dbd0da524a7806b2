#include "factory/run/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "factory/base/secret_mask.h"
#include "factory/oci/documents.h"
#include "factory/os/processors.h"
#include "factory/run/failure.h"
#include "factory/run/offline.h"
#include "factory/state/access.h"
#include "factory/state/lock.h"

namespace kiln {
namespace {

constexpr std::int64_t kOldestZipTime = 315532800;  // 1980-01-01T00:00:00Z

// Steps that share this machine's processors: those of the build that started this one, or, where other
// builds of the state folder run beside it, all that run now.
int steps_at_once(const StepSetup& setup) {
  if (setup.is_alone) return 1;
  if (setup.at_once > 0)
    return std::max(setup.at_once, static_cast<int>(living_claims(setup.state, setup.files)));
  return setup.site.jobs > 0 ? setup.site.jobs : std::max(1, static_cast<int>(usable_processors()) / 2);
}

int compilers_here(const StepSetup& setup, const CommandLimits& limits) {
  return compilers_of_step(steps_at_once(setup), static_cast<int>(usable_processors()), usable_memory(),
                           limits.memory);
}

// Of a pulled base: buildah and docker give it to scripts by themselves, podman and apptainer know only a
// tree.
std::map<std::string, std::string> environment_of(const std::optional<ImageConfig>& base) {
  std::map<std::string, std::string> environment;
  if (!base) return environment;
  for (const std::string& entry : base->env)
    if (const std::size_t end = entry.find('='); end != std::string::npos)
      environment[entry.substr(0, end)] = entry.substr(end + 1);
  return environment;
}

std::string folder_name(const Step& step) {
  std::string name = step.component;  // "framework/pytorch"
  std::ranges::replace(name, '/', '-');
  return name;
}

// The digest that the plan knows of a file of the step.
std::string planned_digest(const Step& step, const std::string& path) {
  const Json inputs = inputs_of(step);
  if (path == step.script) return inputs.at("script").at("digest").get<std::string>();
  return inputs.at("files").at(path).get<std::string>();
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// apt reads one file more than the image's: what the base's recipe says of this machine, and the
// certificates, which it takes from its own configuration only.
void hand_on_to_apt(SiteHandover& handover, const std::optional<fs::path>& of_base, FileSystem& files,
                    const fs::path& folder) {
  std::string text;
  if (of_base) {
    handover.mounts.push_back({*of_base, "/run/kiln/site/base"});
    text = files.read(*of_base / "apt.conf").value_or("");
  }
  if (auto found = handover.environment.find("SSL_CERT_FILE"); found != handover.environment.end())
    text += fmt::format("Acquire::https::CaInfo \"{}\";\n", found->second);
  if (text.empty()) return;
  files.write_output(folder / "apt.conf", text);
  handover.mounts.push_back({folder / "apt.conf", "/run/kiln/apt.conf"});
  handover.environment["APT_CONFIG"] = "/run/kiln/apt.conf";
}

// The passwords of proxies and indexes.
std::vector<std::string> passwords_of(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> passwords;
  for (const auto& [name, value] : environment) append(passwords, passwords_in_urls(value));
  return passwords;
}

std::map<std::string, std::string> host_environment(const Step& step, const StepSetup& setup,
                                                    const fs::path& folder) {
  auto environment = standing_environment(setup, std::nullopt);
  SiteHandover handover;
  if (setup.site.offline)
    handover.environment = offline_environment(setup, step, folder);
  else
    handover = site_handover(setup.site, setup.files, setup.environment);
  for (auto& [name, value] : handover.environment) {
    for (const Mount& mount : handover.mounts)  // on the host the files are where they are
      if (value == mount.target) value = mount.source.string();
    environment[name] = value;
  }
  for (const char* name : {"PATH", "HOME"})
    if (auto ours = setup.environment.find(name); ours != setup.environment.end())
      environment[name] = ours->second;
  environment["TMPDIR"] = fs::absolute(folder).string();
  environment["KILN_JOBS"] =
      std::to_string(compilers_here(setup, setup.site.limits_of(step.component, step.limits)));
  for (const auto& [name, value] : step.parameters) environment[name] = value;
  return environment;
}

bool is_one_line(const std::string& text) {
  return !text.empty() && text.size() <= 4096 &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

BuiltFiles::BuiltFiles(const Step& step, const StepRecord& stage, Container& container, Engine& engine)
    : container_(container), stage_(engine.start(&stage)) {
  for (const std::string& path : step.mount) {
    const fs::path source = stage_->place_of(path);
    const fs::file_status status = fs::symlink_status(source);
    if (!fs::exists(status))
      throw Error(ExitCode::images_failed, fmt::format("the build stage left nothing at {}", path));
    if (fs::is_symlink(status))
      throw Error(ExitCode::images_failed, fmt::format("the build stage left a link at {}", path),
                  "name what it leads to");
    mounts_.push_back({source, path});
    for (fs::path folder = path; folder.has_relative_path(); folder = folder.parent_path())
      if (!fs::exists(fs::symlink_status(container_.place_of(folder.string()))))
        made_.push_back(folder.string());
  }
}

void BuiltFiles::take_away() {
  for (const std::string& folder : made_) {
    std::error_code ignored;  // what is not empty is the script's
    fs::remove(container_.place_of(folder), ignored);
  }
}

int compilers_of_step(int steps, int processors, std::uint64_t memory, std::uint64_t own) {
  const int bearable = static_cast<int>(compilers_in(memory)) / steps;
  const int allowed = static_cast<int>(compilers_in(own > 0 ? own : memory));
  return std::max(1, std::min({processors / steps, bearable, allowed}));
}

std::optional<fs::path> site_of_base(const StepSetup& setup, const fs::path& folder, const fs::path& log) {
  if (!setup.base || setup.base->site.empty()) return std::nullopt;
  const fs::path output = folder / "base" / "site";
  setup.files.make_directories(output);
  Command command = host_script(*setup.base, setup.base->site, setup, folder / "base");
  command.environment["KILN_OUTPUT"] = output.string();
  command.log = log;
  try {
    check_script(setup.runner.run(command), command.limits);
  } catch (Error& error) {
    throw error.while_doing(fmt::format("asking {} of {} how this machine reaches packages", setup.base->site,
                                        setup.base->component));
  }
  return output;
}

std::int64_t source_date_epoch(const std::map<std::string, std::string>& environment) {
  auto found = environment.find("SOURCE_DATE_EPOCH");
  if (found == environment.end() || found->second.empty()) return kOldestZipTime;
  std::int64_t seconds = 0;
  const std::string& text = found->second;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (problem != std::errc() || end != text.data() + text.size() || seconds < 0)
    throw Error(ExitCode::usage, fmt::format("SOURCE_DATE_EPOCH is '{}', expected seconds since 1970", text));
  return seconds;
}

fs::path copy_recipe_files(const Step& step, const StepSetup& setup, const fs::path& folder) {
  auto found = setup.recipe_folders.find(step.component);
  if (found == setup.recipe_folders.end())
    throw Error(ExitCode::input, fmt::format("the recipe folder of {} is not known", step.component));
  const FileMask of_images(kImageMask);  // whatever user of the container reads them
  fs::path target = fs::absolute(folder) / folder_name(step);
  setup.files.make_directories(target);
  for (const std::string& path : step.files) {
    fs::path source = found->second / path;
    auto bytes = setup.files.read(source);
    if (!bytes || Digest::of(*bytes).text() != planned_digest(step, path))
      throw Error(ExitCode::input,
                  fmt::format("{} {}", source.string(), bytes ? "was changed" : "was removed"),
                  "the plan was made with another one: run `kiln build` again");
    setup.files.write_output(target / path, *bytes);
  }
  return target;
}

std::map<std::string, std::string> standing_environment(const StepSetup& setup,
                                                        const std::optional<ImageConfig>& base) {
  std::map<std::string, std::string> environment = environment_of(base);
  environment["KILN_JOBS"] = std::to_string(compilers_here(setup, setup.site.step_limits));
  environment["SOURCE_DATE_EPOCH"] = std::to_string(source_date_epoch(setup.environment));
  environment["DEBIAN_FRONTEND"] = "noninteractive";
  environment["LC_ALL"] = "C.UTF-8";
  environment["HOME"] = "/root";
  environment.try_emplace("PATH", kDefaultPath);
  return environment;
}

Command host_script(const Step& base, const std::string& script, const StepSetup& setup,
                    const fs::path& folder) {
  Command command;
  command.folder = copy_recipe_files(base, setup, folder);
  command.argv = {"/bin/sh", "-eu", script};
  if (setup.site.offline) command.argv.insert(command.argv.begin(), {"unshare", "--net", "--"});
  command.environment = host_environment(base, setup, folder);
  command.hidden = passwords_of(command.environment);
  if (!base.secrets.empty() && script == base.script) {
    const fs::path secrets = fs::absolute(folder) / "secrets";
    append(command.hidden, hand_in_secrets(base.secrets, setup.site, setup.environment, secrets).hidden);
    command.environment["KILN_SECRETS"] = secrets.string();
  }
  command.limits = setup.site.limits_of(base.component, base.limits);
  command.own_processes = true;
  command.file_mask = kImageMask;
  return command;
}

ContainerRun container_run(const StepRecord& parent, bool network, const StepSetup& setup,
                           const fs::path& folder, const fs::path& log) {
  const FileMask of_images(kImageMask);
  ContainerRun request;
  request.network = network && !setup.site.offline;
  request.log = log;
  request.limits = setup.site.step_limits;
  request.environment = standing_environment(setup, parent.chain.base);
  if (!network) return request;  // nothing to configure
  const fs::path own = fs::absolute(folder);
  SiteHandover handover;
  if (setup.site.offline) {
    handover = offline_handover(setup, setup.base, own);
  } else {
    handover = site_handover(setup.site, setup.files, setup.environment);
    hand_on_to_apt(handover, site_of_base(setup, own, log), setup.files, own);
  }
  request.mounts = std::move(handover.mounts);
  const auto ours = standing_environment(setup, std::nullopt);
  for (const auto& [name, value] : handover.environment)  // what a base says of proxies is of another machine
    if (!ours.contains(name)) request.environment[name] = value;
  request.hidden = passwords_of(request.environment);
  append(request.hidden, passwords_in_urls(setup.files.read(own / "apt.conf").value_or("")));
  return request;
}

ContainerRun container_script(const Step& step, const StepRecord& parent, const fs::path& files,
                              const StepSetup& setup, const fs::path& folder, const fs::path& log) {
  const FileMask of_images(kImageMask);
  ContainerRun request = container_run(parent, step.kind != StepKind::test, setup, folder, log);
  request.argv = {"/bin/sh", "-eu", step.script};
  request.limits = setup.site.limits_of(step.component, step.limits);
  request.unsynced = step.kind != StepKind::test;  // its layer is what must last, and we write that
  request.environment["KILN_JOBS"] = std::to_string(compilers_here(setup, request.limits));
  request.folder = "/run/kiln/" + files.filename().string();
  request.mounts.insert(request.mounts.begin(), {files, request.folder});
  if (!step.secrets.empty()) {
    HandedSecrets secrets =
        hand_in_secrets(step.secrets, setup.site, setup.environment, fs::absolute(folder) / "secrets");
    request.mounts.insert(request.mounts.end(), secrets.mounts.begin(), secrets.mounts.end());
    append(request.hidden, secrets.hidden);
    request.environment["KILN_SECRETS"] = kSecretsInside;
  }
  for (const auto& [name, value] : step.parameters) request.environment[name] = value;
  if (setup.site.offline && step.kind != StepKind::test && step.parameters.contains("KILN_SOURCE_URL"))
    lead_to_source(request, step, setup, files);
  return request;
}

std::map<std::string, std::string> engine_environment(const std::map<std::string, std::string>& ours,
                                                      const fs::path& temporary) {
  constexpr std::array kAllowed = {
      "PATH", "HOME", "USER", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "REGISTRY_AUTH_FILE", "http_proxy",
      "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
      "CONTAINERS_CONF", "CONTAINERS_REGISTRIES_CONF", "DOCKER_HOST",
      // set by `buildah unshare`: without them a rootless engine would unshare again
      "_CONTAINERS_USERNS_CONFIGURED", "_CONTAINERS_ROOTLESS_UID", "_CONTAINERS_ROOTLESS_GID"};
  std::map<std::string, std::string> environment;
  for (const char* name : kAllowed)
    if (auto found = ours.find(name); found != ours.end()) environment.insert(*found);
  environment.try_emplace("PATH", kDefaultPath);
  environment["TMPDIR"] = fs::absolute(temporary).string();
  environment["LC_ALL"] = "C.UTF-8";
  return environment;
}

void need_engine_paths(const Site& site, const StatePaths& state) {
  const auto need = [](const fs::path& folder, const char* what, const char* hint,
                       EngineUse use = EngineUse::keep_trees) {
    if (!folder.empty()) need_engine_path(fs::absolute(folder), use, what, hint);
  };
  need(state.root(), "the state folder", "name another one with --state");
  need(site.scratch, "the scratch folder", "name another one in the site file, \"scratch\"");
  if (site.cache.use)
    need(site.cache.folder, "the folder of caches", "name another one in the site file, \"cache\"");
  if (site.offline) need(site.mirror, "the mirror", "move it, and name it with --mirror", EngineUse::mount);
}

std::unique_ptr<Engine> engine_in(const fs::path& folder, const StepSetup& setup,
                                  const std::string& architecture) {
  need_engine_paths(setup.site, setup.state);
  EngineSetup engine{setup.runner,
                     setup.files,
                     fs::absolute(setup.state.with_scratch(setup.site.scratch).engine()),
                     setup.state.store(),
                     engine_environment(setup.environment, folder),
                     setup.clock,
                     setup.site.pull_limits,
                     setup.tell_pull,
                     architecture};
  return make_engine(setup.site.engine, engine);
}

std::string log_header(const Step& step) {
  std::string command = step.script;
  if (step.kind == StepKind::pull) command = "pull " + step.reference;
  if (step.kind == StepKind::copy) command = fmt::format("copy {}", fmt::join(step.copy, " "));
  std::string parent = step.parent.empty() ? "nothing" : step.parent;
  return fmt::format("# {}\n# {} {}\n# on {}\n# {} {}\n\n", step.title, name_of(step.kind), step.key, parent,
                     step.component, command);
}

std::string archive_state(const Step& base, const std::string& script, const std::string& architecture,
                          const StepSetup& setup, const fs::path& folder) {
  Command command = host_script(base, script, setup, folder);
  command.environment.erase("KILN_ARCHIVE");
  command.environment["KILN_ARCHITECTURE"] = architecture;
  command.capture_stdout = true;
  CommandResult result = setup.runner.run(command);
  try {
    check_script(result, command.limits);
  } catch (Error& error) {
    throw error.while_doing(
        fmt::format("asking {} of {} for the state of the archives", script, base.component));
  }
  std::string line = result.output;
  while (line.ends_with('\n')) line.pop_back();
  if (!is_one_line(line))
    throw Error(ExitCode::input, fmt::format("{} of {} printed no single line", script, base.component),
                "it prints the state of the package archives on one line of stdout");
  return line;
}

}  // namespace kiln
