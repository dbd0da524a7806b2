#include <fmt/format.h>

#include "factory/engine/private_folder.h"
#include "factory/run/script.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

// A person is given bash where the image has it. What they typed last is no failure, of which engines would
// make words.
constexpr const char* kShell = R"(
if ! [ -t 0 ]; then exec /bin/sh; fi
if command -v bash >/dev/null; then bash; else /bin/sh; fi
exit 0)";

StepRecord record_of(const std::string& key, const std::string& what, const StepSetup& setup) {
  auto record = RecordReader(setup.state, setup.files).step(key);
  if (record) return *std::move(record);
  throw Error(ExitCode::usage, fmt::format("{} is not done, so there is nothing to look into", what),
              "`kiln build` does it; --failed looks into the step that failed");
}

ContainerRun request_for(const ShellStart& start, const StepRecord& record, const StepSetup& setup,
                         const fs::path& folder) {
  if (!start.after)
    return container_script(start.step, record, copy_recipe_files(start.step, setup, folder), setup, folder,
                            "");
  ContainerRun request = container_run(record, true, setup, folder, "");
  for (const auto& [name, value] : start.environment) request.environment[name] = value;
  return request;
}

}  // namespace

CommandResult open_shell(const ShellStart& start, const StepSetup& setup) {
  const Step& step = start.step;
  const StepRecord record = start.after ? record_of(step.key, step.title, setup)
                                        : record_of(step.parent, "what " + step.title + " builds on", setup);
  PrivateFolder folder(setup.files, setup.state.temporary());
  auto engine = engine_in(folder.path(), setup);
  ContainerRun request = request_for(start, record, setup, folder.path());
  request.argv = {"/bin/sh", "-c", kShell};
  request.network = step.kind != StepKind::test && !setup.site.offline;
  request.interactive = true;
  auto container = engine->start(&record);
  if (start.after || step.mount.empty()) return container->run(request);
  BuiltFiles built(step, record_of(step.from, "the build stage of " + step.title, setup), *container,
                   *engine);
  request.mounts.insert(request.mounts.end(), built.mounts().begin(), built.mounts().end());
  return container->run(request);
}

}  // namespace kiln
