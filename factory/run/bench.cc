#include "factory/run/bench.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "factory/base/effects.h"
#include "factory/base/json_fields.h"
#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/bench/conditions.h"
#include "factory/bench/statistics.h"
#include "factory/bench/tuning_start.h"
#include "factory/bench/workload_output.h"
#include "factory/os/processors.h"
#include "factory/run/failure.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr const char* kWorkloadData = "/run/kiln/data";
constexpr const char* kUnsettled = "did not settle";

const ComponentUse* main_component(const ImageSpec& image) {
  for (const ComponentUse& use : image.components)
    if (use.name == image.repository) return &use;
  return nullptr;
}

// What a workload may ask of the image it runs in.
std::map<std::string, std::string> workload_environment(const BenchRequest& request) {
  std::map<std::string, std::string> environment = request.image.environment;
  std::string compilers;
  for (const ComponentUse& use : request.image.components) {
    if (use.kind == Kind::compiler) compilers += (compilers.empty() ? "" : " ") + use.name;
    if (use.kind == Kind::framework) {
      environment["KILN_FRAMEWORK_NAME"] = use.name;
      environment["KILN_FRAMEWORK_VERSION"] = use.version.text();
    }
  }
  environment["KILN_COMPILERS"] = compilers;
  if (request.wishes.steps > 0) environment["KILN_BENCH_STEPS"] = std::to_string(request.wishes.steps);
  if (request.wishes.ranks > 0) environment["KILN_BENCH_RANKS"] = std::to_string(request.wishes.ranks);
  if (!request.wishes.data.empty()) environment["KILN_BENCH_DATA"] = kWorkloadData;
  for (const auto& [name, value] : request.settings) environment[name] = value;
  return environment;
}

std::vector<int> own_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return processors;
  for (int number = 0; number < CPU_SETSIZE; ++number)
    if (CPU_ISSET(number, &set)) processors.push_back(number);
  return processors;
}

std::string read_line(const FileSystem& files, const fs::path& path) {
  return std::string(trimmed(files.read(path).value_or("")));
}

// Watches the machine from just before a run until its end.
class ConditionsWatch {
 public:
  explicit ConditionsWatch(const StepSetup& setup) : setup_(setup) {
    const std::string before = stat();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    at_start_ = stat();
    conditions_.busy = processor_use(before, at_start_).busy;
    conditions_.load = load_of(read_line(setup.files, "/proc/loadavg"));
    conditions_.governor = read_line(setup.files, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    seconds_ = setup.clock.monotonic_seconds();
    used_ = seconds_of_children();
  }

  // Of the processors that were busy during the run, what it did not use itself was others'.
  RunConditions end(int processors) {
    const ProcessorUse use = processor_use(at_start_, stat());
    const double seconds = setup_.clock.monotonic_seconds() - seconds_;
    const double own = seconds > 0 ? (seconds_of_children() - used_) / seconds : 0;
    conditions_.busy = std::max({conditions_.busy, use.busy - own, 0.0});
    conditions_.steal = use.steal;
    constexpr double kMostSteal = 0.05;
    if (is_under_load(conditions_.busy, processors)) conditions_.marks.emplace_back(kUnderLoad);
    if (conditions_.steal > kMostSteal) conditions_.marks.emplace_back(kStolen);
    return conditions_;
  }

 private:
  std::string stat() const { return setup_.files.read("/proc/stat").value_or(""); }

  const StepSetup& setup_;
  RunConditions conditions_;
  std::string at_start_;
  double seconds_ = 0;
  double used_ = 0;
};

StepRecord record_of(const ImageSpec& image, const StepSetup& setup) {
  auto record = RecordReader(setup.state, setup.files).step(image.last_step().key);
  if (record) return *std::move(record);
  throw Error(ExitCode::images_failed, image.repository + ":" + image.tag + " is not built",
              "run `kiln build` first");
}

void check_ended_well(const CommandResult& result, const BenchRequest& request, const fs::path& log) {
  if (result.end == CommandEnd::interrupted || interrupted())
    throw Error(ExitCode::interrupted, "interrupted");
  if (result.ok()) return;
  if (result.end == CommandEnd::wall_limit && request.wall.count() > 0)
    throw Error(ExitCode::timeout,
                fmt::format("the workload '{}' was ended after {} s in {}:{}", request.workload.name,
                            request.wall.count(), request.image.repository, request.image.tag),
                "the whole log is " + log.string());
  const auto cause = cause_in(result.tail);
  const bool is_disk_full = cause && cause->kind == CauseKind::disk_full;
  throw Error(
      is_disk_full ? ExitCode::store : ExitCode::images_failed,
      fmt::format("the workload '{}' failed in {}:{}: {}", request.workload.name, request.image.repository,
                  request.image.tag, is_disk_full ? cause->what : last_lines(result.tail, 10)),
      "the whole log is " + log.string());
}

fs::path log_of(const BenchRequest& request, const StepSetup& setup) {
  return setup.state.log(request.log.empty() ? "bench-" + request.image.key : request.log);
}

CommandResult start_in_image(const BenchRequest& request, const StepSetup& setup) {
  std::vector<Mount> data;
  if (!request.wishes.data.empty()) data.push_back({fs::absolute(request.wishes.data), kWorkloadData});
  return run_in_image(record_of(request.image, setup),
                      {{"/bin/sh", "-eu", request.workload.methods.front().script},
                       request.workload.folder,
                       workload_environment(request),
                       log_of(request, setup),
                       true,
                       data,
                       !request.image.target.accelerators.empty(),
                       request.wall},
                      setup);
}

void add_image(BenchRun& run, const BenchRequest& request) {
  run.workload = request.workload.name;
  run.image = request.manifest;
  run.key = request.image.key;
  run.name = request.image.repository + ":" + request.image.tag;
  run.axes = run_axes(request.image);
  run.stock = request.stock;
  run.host = request.host;
  run.kiln = request.kiln;
  run.round = request.round;
  run.place = request.place;
  run.session = request.session;
  run.workload_files = request.workload_files;
}

void add_metric(BenchRun& run, WorkloadMetric metric) {
  run.workload = metric_name(run.workload, metric.name);
  run.unit = std::move(metric.unit);
  run.samples = std::move(metric.samples);
  run.first = metric.first;
  const WarmUp warm_up = find_warm_up(run.samples);
  run.warm = warm_up.length;
  if (!warm_up.settled) run.conditions.marks.emplace_back(kUnsettled);
}

// What was asked for, where the workload does not say what it made of it.
void add_wishes(BenchRun& run, const WorkloadWishes& wishes) {
  if (wishes.ranks > 0 && !run.output.contains("ranks")) run.output["ranks"] = wishes.ranks;
  if (!wishes.data.empty() && !run.output.contains("input")) run.output["input"] = {{"kind", "path"}};
}

// XLA in JAX, which has no build without it.
bool is_part_of_framework(const ComponentUse& compiler, const ImageSpec& image, const RecipeBook& recipes) {
  const Recipe* recipe = recipes.find(compiler.kind, compiler.name);
  const ComponentVersion* version = recipe == nullptr ? nullptr : recipe->find_version(compiler.version);
  if (version == nullptr) return false;
  const std::string frameworks = " " + version->fact("stock_of") + " ";
  return std::ranges::any_of(image.components, [&](const ComponentUse& use) {
    return use.kind == Kind::framework && frameworks.find(" " + use.name + " ") != std::string::npos;
  });
}

Error bad_rates(const std::string& why) {
  return Error(ExitCode::images_failed, fmt::format("the output of the workload '{}' {}", kHostRates, why),
               R"(expected {"rates": {"triad": {"unit": "GB/s", "samples": [numbers]}, …}})");
}

// {"unit": "GB/s", "samples": [..]}.
double best_of(const std::string& name, const Json& rate) {
  if (!rate.is_object() || rate.value("unit", Json()) != Json(unit_of_host_rate(name)))
    throw bad_rates(fmt::format("has '{}' not in {}", name, unit_of_host_rate(name)));
  const Json samples = rate.value("samples", Json());
  if (!samples.is_array() || samples.empty()) throw bad_rates(fmt::format("has no samples of '{}'", name));
  double best = 0;
  for (const Json& sample : samples) {
    const double value = sample.is_number() ? sample.get<double>() : 0;
    if (!(value > 0) || !std::isfinite(value))
      throw bad_rates(fmt::format("has a sample of '{}' that is not a positive number", name));
    best = std::max(best, value);
  }
  return best;
}

}  // namespace

RunAxes run_axes(const ImageSpec& image) {
  RunAxes axes;
  axes.framework = image.repository;
  if (const ComponentUse* use = main_component(image)) {
    axes.version = use->version.text();
    axes.method = use->method;
  }
  for (const ComponentUse& use : image.components) {
    if (use.kind == Kind::compiler) axes.compilers.push_back(use.name);
    if (use.kind == Kind::library && !use.automatic) axes.libraries.push_back(use.name);
    if (use.kind == Kind::runtime) axes.runtimes.push_back(use.name);
  }
  std::ranges::sort(axes.libraries);
  std::ranges::sort(axes.compilers);
  std::ranges::sort(axes.runtimes);
  axes.target = image.target.name;
  axes.accelerator = image.target.accelerators.empty()
                         ? "cpu"
                         : fmt::format("{}", fmt::join(image.target.accelerators, ","));
  return axes;
}

bool is_stock(const ImageSpec& image, const RecipeBook& recipes) {
  auto method_of = [&](const ComponentUse& use) -> const Method* {
    const Recipe* recipe = recipes.find(use.kind, use.name);
    return recipe == nullptr ? nullptr : recipe->find_method(use.method);
  };
  bool stock = false;
  bool came_with_base = false;
  bool base_is_stock = false;
  for (const ComponentUse& use : image.components) {
    if ((use.kind == Kind::compiler && !is_part_of_framework(use, image, recipes)) ||
        use.kind == Kind::runtime || use.optimised)
      return false;
    const Method* method = method_of(use);
    if (method == nullptr) continue;
    if (use.kind == Kind::base) base_is_stock = method->stock;
    if (use.kind != Kind::framework) continue;
    stock = method->stock;
    came_with_base = method->script.empty();
  }
  return came_with_base ? base_is_stock : stock;
}

std::vector<BenchRun> run_workload(const BenchRequest& request, const StepSetup& setup) {
  const std::vector<int> processors = own_processors();
  ConditionsWatch watch(setup);
  const CommandResult result = start_in_image(request, setup);
  BenchRun run;
  run.conditions = watch.end(static_cast<int>(processors.size()));
  check_ended_well(result, request, log_of(request, setup));
  add_image(run, request);
  run.threads = static_cast<int>(processors.size());
  run.affinity = processor_list(processors);
  run.cleared = tuning_variables(setup.environment);
  run.peak_memory = result.memory.peak;
  run.taken = rfc3339(setup.clock.unix_seconds());
  WorkloadOutput output = read_workload_output(result.output, request.workload.name);
  if (output.threads > 0) run.threads = output.threads;
  run.output = std::move(output.rest);
  add_wishes(run, request.wishes);
  std::vector<BenchRun> runs(output.metrics.size(), run);
  for (std::size_t i = 0; i < runs.size(); ++i) add_metric(runs[i], std::move(output.metrics[i]));
  return runs;
}

double run_objective(const BenchRequest& request, const StepSetup& setup) {
  const CommandResult result = start_in_image(request, setup);
  check_ended_well(result, request, log_of(request, setup));
  return read_objective(result.output, request.workload.name);
}

template <typename Fields>
void describe(Fields& fields, HostRecord& record) {
  fields.refuse_others(record);
  fields.must("host", record.host, host_from_json);
  fields.must("image", record.image);
  fields.must("key", record.key);
  fields.may("file_system", record.file_system);
  fields.may("marks", record.marks);
  fields.must("threads", record.threads);
  fields.must("taken", record.taken);
}

Json to_json(const HostRecord& record) { return fields_of(record); }
HostRecord host_record_from_json(const JsonNode& node) { return read_as<HostRecord>(node); }

std::map<std::string, double> host_rates_of(const Json& output) {
  const Json printed = output.is_object() ? output.value("rates", Json()) : Json();
  if (!printed.is_object() || printed.empty()) throw bad_rates("has no rates");
  std::map<std::string, double> rates;
  for (const auto& [name, rate] : printed.items()) {
    if (unit_of_host_rate(name).empty()) throw bad_rates(fmt::format("has an unknown rate '{}'", name));
    rates[name] = best_of(name, rate);
  }
  return rates;
}

HostRecord measure_host(const BenchRequest& request, const StepSetup& setup) {
  const BenchRun run = run_workload(request, setup).front();
  HostRecord record;
  record.host = run.host;
  record.host.rates = host_rates_of(run.output);
  record.image = run.name;
  record.key = run.key;
  if (const Json kind = run.output.value("file_system", Json()); kind.is_string())
    record.file_system = kind.get<std::string>();
  record.threads = run.threads;
  record.marks = run.conditions.marks;
  record.taken = run.taken;
  return record;
}

std::optional<HostRecord> known_host(const StatePaths& state, const FileSystem& files,
                                     const HostDescription& host) {
  const fs::path file = state.host(host_name());
  const auto text = files.read(file);
  if (!text) return std::nullopt;
  try {
    HostRecord record = host_record_from_json(JsonDocument::parse(*text, file).root());
    if (is_same_machine(record.host, host)) return record;
  } catch (const Error&) {  // it is measured again
  }
  return std::nullopt;
}

void keep_host(const StatePaths& state, FileSystem& files, const HostRecord& record) {
  files.write(state.host(host_name()), to_json(record).dump(2) + "\n");
}

}  // namespace kiln
