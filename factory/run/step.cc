#include "factory/run/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/engine/architecture.h"
#include "factory/engine/private_folder.h"
#include "factory/engine/user_namespace.h"
#include "factory/oci/layer_write.h"
#include "factory/oci/layout.h"
#include "factory/run/caches.h"
#include "factory/run/damaged_steps.h"
#include "factory/run/failure.h"
#include "factory/run/fetch_steps.h"
#include "factory/run/gpu_access.h"
#include "factory/run/offline.h"
#include "factory/run/retry.h"
#include "factory/run/script.h"
#include "factory/state/access.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

class StepRun {
 public:
  StepRun(const Step& step, const StepSetup& setup, Engine& engine, const fs::path& folder, StepTry& attempt)
      : step_(step),
        setup_(setup),
        engine_(engine),
        store_(setup.state.store()),
        folder_(folder),
        attempt_(attempt) {}

  // The record is written last: it promises everything before it.
  void run() {
    double start = setup_.clock.monotonic_seconds();
    if (attempt_.number == 1) setup_.files.write_output(log(), log_header(step_) + setup_.machine);
    check_architecture(step_, setup_.files);
    if (step_.kind == StepKind::test) {
      TestRecord record = test();
      record.seconds = setup_.clock.monotonic_seconds() - start;
      RecordWriter(setup_.state, setup_.files).write(record);
      return;
    }
    StepRecord record = build();
    record.key = step_.key;
    record.seconds = setup_.clock.monotonic_seconds() - start;
    RecordWriter(setup_.state, setup_.files).write(record);
  }

 private:
  fs::path log() const { return setup_.state.log(step_.key); }

  StepRecord build() {
    switch (step_.kind) {
      case StepKind::rootfs:
        return rootfs();
      case StepKind::pull:
        return pull();
      case StepKind::copy:
        return copy();
      default:
        return script();
    }
  }

  // Of the script of the step, on the terms of this try.
  void run_script(Container& container, ContainerRun& request) {
    request.limits.memory = attempt_.terms.memory;
    check(container.run(request), request.limits);
  }

  void check(const CommandResult& result, const CommandLimits& limits) {
    attempt_.memory = result.memory;
    tail_ = result.tail;
    need_still_there(setup_.state, folder_, setup_.files);
    check_script(result, limits);
  }

  StepRecord rootfs() {
    fs::path tar = folder_ / "rootfs.tar";
    Command command = host_script(step_, step_.script, setup_, folder_);
    command.environment["KILN_OUTPUT"] = tar.string();
    command.log = log();
    command.limits.memory = attempt_.terms.memory;
    check(setup_.runner.run(command), command.limits);
    if (!setup_.files.exists(tar))
      throw Error(ExitCode::images_failed, fmt::format("{} wrote nothing to $KILN_OUTPUT", step_.script));
    auto container = engine_.start(nullptr);
    container->add_archive(tar);
    StepRecord record;
    record.chain.base.emplace().architecture = architecture_of(step_);
    return finish(*container, std::move(record));
  }

  StepRecord pull() {
    fs::path layout = folder_ / "pulled";
    const std::string reference = setup_.site.offline ? offline_image(setup_, step_) : step_.reference;
    engine_.pull(reference, layout, log());
    PulledImage image = read_layout(layout, setup_.files);
    check_pulled(image.config);
    StepRecord record;
    for (std::size_t i = 0; i < image.manifest.layers.size(); ++i) {
      const Descriptor& layer = image.manifest.layers[i];
      const Digest& diff_id = image.config.diff_ids[i];
      fs::path file = blob_in_layout(layout, layer.digest);
      if (diff_id_of(file) != diff_id)
        throw Error(ExitCode::store, fmt::format("layer {} of {} is not the one that its configuration names",
                                                 layer.digest.text(), step_.reference));
      record.chain.layers.push_back(
          {store_.put_file(file, layer.media_type, layer.digest), diff_id, step_.key, step_.reference});
    }
    record.chain.base = image.config;
    return record;
  }

  // An image of one platform alone is what skopeo copies, whichever was asked for.
  void check_pulled(const ImageConfig& config) const {
    const std::string wanted = architecture_of(step_);
    if (wanted.empty() || config.architecture == wanted) return;
    throw Error(ExitCode::input,
                fmt::format("{} is an image for {}, and the target is for {}", step_.reference,
                            config.architecture, wanted),
                "a recipe's method may name an image that exists for all its targets, or be kept to some");
  }

  StepRecord script() {
    StepRecord parent = record_of(step_.parent);
    Caches caches(step_, parent, setup_, folder_);
    const fs::path files = copy_recipe_files(step_, setup_, folder_);
    try {
      return script_with(&caches, parent, files);
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted || !caches.drop_damaged(tail_)) throw;
      tell_log(
          fmt::format("{}; again without the cache, which may be damaged and was removed", error.message()));
    }
    return script_with(nullptr, parent, files);
  }

  StepRecord script_with(const Caches* caches, StepRecord parent, const fs::path& files) {
    auto container = engine_.start(&parent);
    ContainerRun request = container_script(step_, parent, files, setup_, folder_, log());
    if (caches != nullptr) caches->hand_to(request);
    if (step_.mount.empty()) {
      run_script(*container, request);
      tell_caches(caches);
      return finish(*container, std::move(parent));
    }
    BuiltFiles built(step_, record_of(step_.from), *container, engine_);
    request.mounts.insert(request.mounts.end(), built.mounts().begin(), built.mounts().end());
    run_script(*container, request);
    tell_caches(caches);
    built.take_away();
    return finish(*container, std::move(parent));
  }

  StepRecord copy() {
    StepRecord parent = record_of(step_.parent);
    StepRecord stage = record_of(step_.from);
    auto container = engine_.start(&parent);
    auto source = engine_.start(&stage);
    container->copy_from(*source, step_.copy, log());
    return finish(*container, std::move(parent));
  }

  // Where and when it runs: on this machine, or on what stands in for another.
  TestRecord record_of_machine() const {
    TestRecord record;
    record.key = step_.key;
    record.host = host_name();
    record.taken = rfc3339(setup_.clock.unix_seconds());
    if (!machine_) return record;
    record.kernel = machine_->host.kernel;
    record.emulator = machine_->emulator;
    if (!record.emulator.empty()) return record;
    record.cpu = machine_->host.cpu;
    record.accelerators = machine_->host.accelerators;
    return record;
  }

  void find_machine(const StepRecord& image) {
    if (!setup_.test_machine) return;
    machine_.emplace(*setup_.test_machine);
    if (image.chain.base)
      machine_->emulator =
          emulator_of(image.chain.base->architecture, setup_.files, setup_.runner, setup_.environment);
  }

  TestRecord test() {
    StepRecord image = record_of(step_.parent);
    find_machine(image);
    auto container = engine_.start(&image);
    fs::path files = copy_recipe_files(step_, setup_, folder_);
    ContainerRun request = container_script(step_, image, files, setup_, folder_, log());
    std::string last;
    request.on_line = [&](std::string_view line) {
      if (!line.empty()) last = line;
    };
    request.limits.memory = attempt_.terms.memory;
    if (!test_target(step_).gpus.empty())
      gpu_access(setup_.files, setup_.runner, setup_.environment).hand_to(request);
    const CommandResult result = container->run(request);
    const std::string why = machine_ ? why_not_here(result, test_target(step_), *machine_) : "";
    if (why.empty()) check(result, request.limits);
    TestRecord record = record_of_machine();
    record.last_line = why.empty() ? last : tell_untested(why);
    return record;
  }

  // The image may be as good as it wants to be: it is for another machine, where `kiln test` can say so.
  std::string tell_untested(const std::string& why) const {
    std::string line = fmt::format("{}{}", kNotRun, why);
    tell_log(line);
    return line;
  }

  void tell_log(const std::string& line) const {
    std::ofstream(log(), std::ios::app) << "\nkiln: " << line << '\n';
  }

  void tell_caches(const Caches* caches) const {
    const std::string line = caches == nullptr ? "" : caches->told();
    if (!line.empty()) tell_log(line);
  }

  // Takes what changed in the container upon `parent` into the store and keeps the container for the steps
  // that follow.
  StepRecord finish(Container& container, StepRecord parent) {
    need_still_there(setup_.state, folder_, setup_.files);
    ChangedTree changes = container.changes();
    remove_droppings(changes.folder);
    LayerOptions options;
    options.epoch = source_date_epoch(setup_.environment);
    options.compression = setup_.site.layer_compression;
    options.zstd_level = setup_.site.zstd_level;
    container.keep(step_.key, [&] {
      BuiltLayer layer = write_layer(changes, store_, options);
      layer.step = step_.key;
      layer.created_by = step_.title;
      parent.chain.layers.push_back(std::move(layer));
    });
    return parent;
  }

  StepRecord record_of(const std::string& key) const {
    auto record = RecordReader(setup_.state, setup_.files).step(key);
    if (!record)
      throw Error(ExitCode::usage, fmt::format("the step {} that this one builds on is not done", key),
                  "run it first, or use `kiln build`");
    std::string damage = seen_damage(record->chain, store_);
    if (!damage.empty())
      throw Error(ExitCode::store,
                  fmt::format("the step {} that this one builds on is damaged: {}", key, damage),
                  kDamageRemedy);
    return *std::move(record);
  }

  const Step& step_;
  const StepSetup& setup_;
  Engine& engine_;
  BlobStore store_;
  const fs::path& folder_;  // private
  StepTry& attempt_;
  std::optional<TestMachine> machine_;  // of a test
  std::string tail_;                    // of the last script's output
};

bool is_done(const Step& step, const StepSetup& setup) {
  if (step.kind == StepKind::test) return setup.files.exists(setup.state.test(step.key));
  auto record = RecordReader(setup.state, setup.files).step(step.key);
  return record && seen_damage(record->chain, BlobStore(setup.state.store())).empty();
}

// The site file is read anew by each step, and the plan was made with one that named an engine of other bits.
void check_engine(const Step& step, const StepSetup& setup, const Engine& engine) {
  const Json lowest = inputs_of(setup.base ? *setup.base : step);
  const std::string planned = lowest.value("engine", "");
  const bool is_known = setup.base || step.parent.empty();
  if (!is_known || engine_family(engine.name()) == planned) return;
  throw Error(ExitCode::input,
              fmt::format("the engine is {} now, and this step is {}", engine.name(),
                          planned.empty() ? "of one that makes other bits" : "of " + planned),
              "run `kiln build` again: it plans for the engine that the site file has now");
}

// After a failure: the layers that the step builds on and that are damaged; they are taken away.
std::string take_damage_below(const Step& step, const StepSetup& setup) {
  std::string taken;
  for (const std::string* below : {&step.parent, &step.from}) {
    if (below->empty()) continue;
    auto record = RecordReader(setup.state, setup.files).step(*below);
    if (record) taken += take_damaged_layers(record->chain, BlobStore(setup.state.store()));
  }
  return taken;
}

// From another builder, which ran it.
bool is_fetched(const Step& step, const StepSetup& setup) {
  const bool is_test = step.kind == StepKind::test;
  const fs::path record = is_test ? setup.state.test(step.key) : setup.state.step(step.key);
  return setup.shared != nullptr && setup.fetches && !setup.files.exists(record) &&
         setup.shared->fetch(wanted_of(step, setup.site)).has_value();
}

void record_failure(const Step& step, const Error& error, double seconds, const StepTries& tries,
                    const StepSetup& setup) {
  FailureRecord failure = failure_record(step.key, error, seconds, setup.state.log(step.key));
  failure.tries = tries.earlier();
  if (!failure.tries.empty()) failure.what += fmt::format("; tried {} times", failure.tries.size() + 1);
  std::ofstream(failure.log, std::ios::app) << "\nkiln: " << error.format() << '\n';
  RecordWriter(setup.state, setup.files).write(failure);
}

StepOutcome run_in(const fs::path& folder, const Step& step, const StepSetup& setup, Engine& engine) {
  double start = setup.clock.monotonic_seconds();
  StepTries tries(step, setup);
  auto fail = [&](const Error& what) {
    const Error error = explained_by_ids(what, setup.files, setup.environment);
    record_failure(step, error, setup.clock.monotonic_seconds() - start, tries, setup);
    return StepOutcome::failed;
  };
  try {
    if (is_done(step, setup)) return StepOutcome::up_to_date;
    check_engine(step, setup, engine);
    tries.run([&](StepTry& attempt) {
      const fs::path own = folder / fmt::format("try-{}", attempt.number);
      setup.files.make_directories(own);
      StepRun(step, setup, engine, own, attempt).run();
    });
    RecordWriter(setup.state, setup.files).forget_failure(step.key);
    return StepOutcome::done;
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    need_still_there(setup.state, folder, setup.files);
    std::string damage = error.code() == ExitCode::store ? take_damage_below(step, setup) : "";
    if (damage.empty()) return fail(error);
    return fail(Error(ExitCode::store, "a layer below this step is damaged: " + damage, kDamageRemedy));
  } catch (const fs::filesystem_error& error) {
    need_still_there(setup.state, folder, setup.files);
    return fail(Error(ExitCode::store, error.what()));
  }
}

}  // namespace

StepOutcome run_step(const Step& step, const StepSetup& setup) {
  if (is_fetched(step, setup)) return StepOutcome::fetched;
  PrivateFolder folder(setup.files, setup.state.temporary());
  auto engine = engine_in(folder.path(), setup, architecture_of(step));
  const StepOutcome outcome = run_in(folder.path(), step, setup, *engine);
  if (setup.shared != nullptr && outcome == StepOutcome::done)
    setup.shared->share(wanted_of(step, setup.site));
  return outcome;
}

StepOutcome run_step(const Step& step, const StepSetup& setup, Engine& engine) {
  PrivateFolder folder(setup.files, setup.state.temporary());
  return run_in(folder.path(), step, setup, engine);
}

CommandResult run_in_image(const StepRecord& image, const ImageRun& run, const StepSetup& setup) {
  PrivateFolder folder(setup.files, setup.state.temporary());
  auto engine = engine_in(folder.path(), setup);
  setup.files.write(run.log, fmt::format("# {}\n\n", fmt::join(run.argv, " ")));
  ContainerRun request;
  request.argv = run.argv;
  request.environment = standing_environment(setup, image.chain.base);
  for (const auto& [name, value] : run.environment) request.environment[name] = value;
  request.folder = "/run/kiln/" + run.recipe_folder.filename().string();
  request.mounts = {{fs::absolute(run.recipe_folder), request.folder}};
  request.mounts.insert(request.mounts.end(), run.mounts.begin(), run.mounts.end());
  request.network = false;
  request.log = run.log;
  request.capture_stdout = run.capture_stdout;
  request.limits = setup.site.step_limits;
  if (run.wall.count() > 0) request.limits.wall = run.wall;
  if (run.wants_gpus) gpu_access(setup.files, setup.runner, setup.environment).hand_to(request);
  auto container = engine->start(&image);
  return container->run(request);
}

}  // namespace kiln
