// Runs one step of the plan: what `kiln step KEY` does, here or on a compute node.
#pragma once

#include <optional>
#include <string>

#include "factory/engine/engine.h"
#include "factory/oci/blob_store.h"
#include "factory/oci/registry_call.h"
#include "factory/resolve/resolve.h"
#include "factory/run/test_machine.h"
#include "factory/site/site.h"
#include "factory/state/state.h"

namespace kiln {

class SharedSteps;

struct StepSetup {
  const Site& site;
  const StatePaths& state;
  FileSystem& files;
  CommandRunner& runner;
  const Clock& clock;
  std::map<std::string, std::string> environment;        // ours; the allow-list decides what a script sees
  std::map<std::string, fs::path> recipe_folders;        // "framework/pytorch" → folder
  std::optional<Step> base = {};                         // the lowest step below this one
  std::function<void(const PullState&)> tell_pull = {};  // as Skopeo::tell
  // Called with the reason of a wait, and after the wait with "" or the number of the try.
  std::function<void(bool waits, const std::string& what)> tell = {};
  std::function<void(std::chrono::milliseconds)> wait = wait_unless_interrupted;
  std::optional<TestMachine> test_machine = {};  // of a test
  std::string machine = {};       // lines for the log: where it runs, when that is not where kiln does
  SharedSteps* shared = nullptr;  // asked before it is run, and given it afterwards; null: none
  bool fetches = true;            // else it is run here even if another builder has run it
  int at_once = 0;                // StepTerms::at_once
  bool is_alone = false;          // it has what it may use of the machine to itself, as a job of Slurm
};

// fetched: another builder ran it.
enum class StepOutcome { done, fetched, up_to_date, failed };

// Leaves steps/<key>.json (or tests/<key>.json) or failed/<key>.json, a log, and a line of the history for
// each try (retry.h). A step whose record exists is not run again.
StepOutcome run_step(const Step& step, const StepSetup& setup);

// The same on a given engine.
StepOutcome run_step(const Step& step, const StepSetup& setup, Engine& engine);

// SOURCE_DATE_EPOCH of `environment`, else 1980-01-01, the oldest time that zip files (wheels) can hold.
// Throws Error(usage) when it is not a number.
std::int64_t source_date_epoch(const std::map<std::string, std::string>& environment);

struct ImageRun {
  std::vector<std::string> argv;
  fs::path recipe_folder;                          // its files are at /run/kiln
  std::map<std::string, std::string> environment;  // in addition to the variables of every script
  fs::path log;                                    // written anew
  bool capture_stdout = false;                     // as Command::capture_stdout
  std::vector<Mount> mounts = {};                  // besides
  bool wants_gpus = false;                         // this machine's (gpu_access.h)
  std::chrono::seconds wall{0};                    // ended after it; 0: the site's limit
};

// In a container of a finished step, without a network: benchmarks.
CommandResult run_in_image(const StepRecord& image, const ImageRun& run, const StepSetup& setup);

// The environment and mounts that give the site's configuration (proxies, pip, certificates) to a build step.
struct SiteHandover {
  std::map<std::string, std::string> environment;
  std::vector<Mount> mounts;
};
// Throws Error(input) when a file that the site file names is missing.
SiteHandover site_handover(const Site& site, const FileSystem& files,
                           const std::map<std::string, std::string>& ours);

}  // namespace kiln
