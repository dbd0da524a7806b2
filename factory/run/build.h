// build: BuildPlan → ninja → BuildReport. ninja schedules; each edge is one `kiln step`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "factory/plan/build_plan.h"
#include "factory/run/progress.h"
#include "factory/site/site.h"
#include "factory/state/record_store.h"
#include "factory/state/state.h"

namespace kiln {

class SharedSteps;
class StateNames;

// skipped: the image is for machines of another architecture, and nothing here runs its programs.
enum class Outcome { built, up_to_date, failed, not_reached, skipped };
std::string_view name_of(Outcome outcome);

// Result of one image.
struct ImageOutcome {
  std::string id;    // cell
  std::string name;  // repository:tag
  std::string key;
  Outcome outcome = Outcome::not_reached;
  std::string reason;                        // failed: the step and its end; skipped: what it is for
  fs::path log;                              // failed only, as what follows
  ExitCode cause = ExitCode::images_failed;  // the cause of the step's end (network, store, tool_missing, …)
  FailureClass failure = FailureClass::build;  // says who must act
  std::string step = {};                       // its key; "" = the image was not packaged
};

// A step or test whose shared record bears a signature that does not match.
struct ForgedStep {
  std::string key;
  std::string title;
  std::string why;
};

struct BuildReport {
  std::vector<ImageOutcome> images;
  std::size_t steps_run = 0;
  std::size_t steps_fetched = 0;     // that other builders ran
  std::vector<ForgedStep> forged{};  // each once
  double seconds = 0;
  bool interrupted = false;
  std::string stopped;  // "ninja was killed by signal 9": what ended the run before its time; else ""
  std::map<std::string, StepEvent> told{};  // by key: what steps and images that failed said
  std::size_t count(Outcome outcome) const;
  void add(const ForgedStep& step);
  // The meanings of the words in brackets after the reasons, a line each.
  std::string legend() const;
  // Exit code of the build: ok; interrupted; network if the run was stopped; the cause that all failures
  // share (network, store, tool_missing); otherwise images_failed. A skipped image is no failure, but a build
  // of skipped images alone returns tool_missing.
  ExitCode exit_code() const;
};

struct BuildOptions {
  int jobs = 1;
  bool keep_going = true;
  std::string kiln;                // this program
  std::int64_t no_step_after = 0;  // 0: no end
  bool fetch = true;               // also use steps of other builders
  int at_once = 1;                 // the most steps that the plan lets run side by side; found by build()
};

struct BuildSetup {
  const BuildPlan& plan;  // all cells of the matrix
  ImageNumbers images;    // those to build
  const RecipeBook& recipes;
  const Site& site;
  const StatePaths& state;
  FileSystem& files;
  CommandRunner& runner;
  const Clock& clock;
  std::map<std::string, std::string> environment;  // ours, handed to ninja and its steps
  // Opens the place of shared steps; each thread that asks opens a separate one. Empty: steps are not shared.
  std::function<std::unique_ptr<SharedSteps>(std::function<void(const std::string&)> tell)> open_shared = {};
};

// Throws Error(tool_missing) without ninja, Error(store) when ninja itself fails; images that fail are in the
// report. Builds of other plans may be at work in the same state folder. REQUIRES: the state's lock is held,
// alone, or shared with the lock of the plan (state/lock.h).
BuildReport build(const BuildSetup& setup, const BuildOptions& options, Progress& progress);

// Writes the plan if it is missing. For a build that has nothing to run: `kiln gc` and `kiln log` read the
// plan. Reports a folder that cannot be written, which is no error.
void restore_plan(const BuildPlan& plan, const StatePaths& state, FileSystem& files,
                  const std::function<void(const std::string&)>& tell);

// The result of an image, from the contents of the state folder `after` the build. `was_built`: before it.
// `for_this_machine`: it can be built here.
ImageOutcome outcome_of(const ResolvedImage& image, bool was_built, bool for_this_machine, StateNames& after,
                        const BuildSetup& setup, const BuildReport& report);

Json to_json(const BuildReport& report);

}  // namespace kiln
