// A step as `kiln step` runs it, on an engine whose containers are folders; for nights of hundreds of images.
// The launcher of a site file puts it before each step:
//
//   fake_step FATES KILN step --state STATE --plan PLAN --terms FILE (KEY | --image CELL)
//
// What becomes of a step or of a cell's packaging is a line of the file FATES, `KEY FATE` or `CELL FATE`:
//   killed      its process dies of SIGKILL in the middle of its work
//   vanished    its process ends with exit status 1 before it has done anything, as a launcher that gets no
//   machine fails       its script ends with exit status 3 silent      its script prints nothing, for ever
//   slow        its script takes ten minutes, and prints
//   stubborn    so, and SIGINT and SIGTERM are nothing to it
// Without a line it goes well. Images are packaged by KILN itself. FATES.twice names the steps that ran twice
// at once.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "factory/base/error.h"
#include "factory/run/step.h"
#include "factory/run/step_terms.h"
#include "factory/state/access.h"
#include "factory/state/lock.h"
#include "factory/state/plan_file.h"
#include "support/folder_engine.h"

namespace kiln::testing {
namespace {

std::string fate_of(const fs::path& fates, const std::string& name) {
  std::ifstream lines(fates);
  for (std::string word, fate; lines >> word >> fate;)
    if (word == name) return fate;
  return "";
}

// What a script does to the folder that is its container: other bits for each key.
CommandResult run_script(const fs::path& root, const ContainerRun& request, const Step& step,
                         const std::string& fate) {
  if (fate == "killed") ::raise(SIGKILL);
  if (step.kind != StepKind::test) {
    fs::create_directories(root / "opt/kiln");
    std::ofstream(root / "opt/kiln" / step.key) << step.key << '\n';
  }
  Command command;
  command.argv = {"sh", "-c",
                  fate == "fails"    ? "echo this one never works; exit 3"
                  : fate == "silent" ? "exec sleep 600"
                  : fate == "slow"   ? "for i in $(seq 2400); do echo $i; sleep 0.25; done"
                  : fate == "stubborn"
                      ? "trap '' INT TERM; for i in $(seq 2400); do echo $i; sleep 0.25; done"
                      : "echo done"};
  command.environment = {{"PATH", "/usr/bin:/bin"}};
  command.log = request.log;
  command.limits = request.limits;
  command.own_processes = true;
  return RealCommandRunner().run(command);
}

// Locked for as long as the step runs: who finds it locked is the second.
std::optional<FileLock> alone(const fs::path& fates, const std::string& key) {
  auto lock = FileLock::try_acquire(fs::path(fates.string() + ".d") / key);
  if (!lock) std::ofstream(fates.string() + ".twice", std::ios::app) << key << '\n';
  return lock;
}

int run(const fs::path& fates, const StatePaths& state, const std::string& plan, const fs::path& terms,
        const std::string& key) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  install_interrupt_handler();
  const std::string fate = fate_of(fates, key);
  if (fate == "vanished") {
    fmt::print(stderr, "no machine for you\n");
    return 1;
  }
  RealFileSystem files;
  RealCommandRunner runner;
  RealClock clock;
  follow_permissions(state);
  const auto step = PlanFile::open(files, state.plan(plan)).value().step(key).value();
  const Site site = read_site(files, read_step_terms(files, terms).site);
  const Claim claim(state, key, clock, [](const std::string&) {});
  const auto lock = alone(fates, key);
  FolderEngine engine;
  // What a stage hands over is there whatever became of the folder in which it ran.
  engine.on_start = [&](const StepRecord&) {
    fs::create_directories(engine.folder / std::to_string(engine.containers) / "opt/kiln/hello");
  };
  engine.script = [&](const fs::path& root, const ContainerRun& request) {
    return run_script(root, request, step, fate);
  };
  const StepSetup setup{site,
                        state,
                        files,
                        runner,
                        clock,
                        {{"PATH", "/usr/bin:/bin"}, {"HOME", "/root"}},
                        {{step.component, state.recipes(plan) / step.component}}};
  return run_step(step, setup, engine) == StepOutcome::failed ? 1 : 0;
}

int main(int argc, char** argv) {
  if (argc < 10) {
    fmt::print(stderr,
               "fake_step FATES KILN step --state STATE --plan PLAN --terms FILE (KEY | --image CELL)\n");
    return 2;
  }
  const std::string name = argv[argc - 1];
  if (argv[argc - 2] == std::string("--image")) {
    const std::string fate = fate_of(argv[1], name);
    if (fate == "killed") ::raise(SIGKILL);
    if (fate == "vanished") return 1;
    ::execv(argv[2], argv + 2);
    return 127;
  }
  try {
    return run(argv[1], StatePaths(argv[5]), argv[7], argv[9], name);
  } catch (const std::exception& exception) {
    fmt::print(stderr, "{}\n", unexpected_error(exception).format(""));
    return 1;
  }
}

}  // namespace
}  // namespace kiln::testing

int main(int argc, char** argv) { return kiln::testing::main(argc, argv); }
