#include "registry/deploy/job_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "registry/select/dsl_words.h"

namespace kiln {
namespace {

constexpr int kMostNodes = 1'000'000;
constexpr int kMostProcesses = 100'000'000;
constexpr int kMostCores = 65'536;  // of a node

// Members of one object, each with its place.
class PartReader {
 public:
  PartReader(const JsonNode& node, JobRequest& job) : node_(node), job_(job) {}

  std::optional<JsonNode> find(const char* key) const {
    auto found = present(node_, key);
    if (found) job_.places[key] = found->where();
    return found;
  }
  // As find(), but nullopt for a text of blanks.
  std::optional<JsonNode> filled(const char* key) const {
    auto found = find(key);
    if (found && is_blank(*found)) return std::nullopt;
    return found;
  }
  void name(const char* key, std::string& into) const {
    if (auto value = filled(key)) into = read_option_name(*value);
  }
  void option(const char* key, std::string& into) const {
    if (auto value = filled(key)) into = read_option(*value);
  }
  void count(const char* key, std::optional<int>& into, int least, int most) const {
    if (auto value = find(key)) into = read_count(*value, least, most);
  }
  void truth(const char* key, bool& into) const {
    if (auto value = find(key)) into = flag(*value);
  }
  static bool is_blank(const JsonNode& node) { return node.is_string() && trimmed(node.string()).empty(); }

 private:
  const JsonNode& node_;
  JobRequest& job_;
};

// A job's name is a file's name at some sites (%x), and an option's value everywhere.
std::string read_job_name(const JsonNode& node) {
  std::string name = read_option(node);
  if (contains(name, '/')) node.fail(fmt::format("the job's name '{}' has '/' in it", name));
  if (name.front() == '-') node.fail(fmt::format("the job's name '{}' begins with '-'", name));
  return name;
}

void read_size(const PartReader& part, JobRequest& job) {
  part.count("node_count", job.nodes, 1, kMostNodes);
  part.count("core_count", job.cores, 1, kMostProcesses);
  part.count("process_count_per_node", job.per_node, 1, kMostCores);
  part.count("core_count_per_process", job.cores_per_process, 1, kMostCores);
  part.count("request_gpus", job.gpus, 0, 1024);
  if (auto time = part.filled("wall_time_limit")) job.wall_time = read_wall_time(*time);
  if (auto memory = part.find("memory_limit")) job.memory = read_memory(*memory);
  auto per_core = part.find("minimum_memory_per_processor");
  if (!per_core) return;
  job.memory_per_core = read_memory(*per_core);
  if (job.memory > 0)
    per_core->fail("'memory_limit' is given as well: a job has one memory limit", "remove one of them");
}

void read_output(const PartReader& part, JobRequest& job) {
  part.option("standard_output_file", job.output);
  part.option("standard_error_file", job.errors);
  part.truth("combine_stdout_stderr", job.combined);
  if (auto events = part.filled("request_event_notification")) job.mail = read_mail_events(*events);
  if (auto address = part.filled("email_address")) job.address = read_address(*address);
}

void read_options(const JsonNode& node, JobRequest& job) {
  const PartReader part(node, job);
  if (auto name = part.find("job_name")) job.name = read_job_name(*name);
  part.name("account", job.account);
  part.name("queue", job.queue);
  part.name("partition", job.partition);
  part.name("qos", job.qos);
  read_size(part, job);
  read_output(part, job);
  if (auto nodes = part.filled("request_specific_nodes")) job.node_names = read_node_names(*nodes);
  if (auto array = part.filled("job_array")) job.array = read_array(*array);
  part.option("architecture_constraint", job.constraint);
  if (auto copy = part.find("copy_environment")) job.copy_environment = flag(*copy);
  if (auto names = part.filled("copy_environment_variable")) job.variables = read_variables(*names);
  if (auto depends = part.find("job_dependency")) job.dependency = read_dependency(*depends);
  if (auto start = part.filled("defer_job")) job.start = read_start_time(*start);
  part.truth("node_exclusive", job.exclusive);
}

void read_target(const JsonNode& node, JobRequest& job) {
  const PartReader part(node, job);
  part.name("name", job.infrastructure);
  auto now = part.find("job_scheduler_type"), older = part.find("queue_type");
  if (now && older) older->fail("'job_scheduler_type' is given as well", "remove one of them");
  if (!now) now = older;
  if (now && !PartReader::is_blank(*now)) {
    job.scheduler = read_scheduler(*now);
    job.places["job_scheduler_type"] = now->where();
  }
}

std::vector<std::string> read_shell_commands(const JsonNode& node) {
  std::vector<std::string> commands;
  for (std::string& text : node.strings()) {
    if (contains(text, '\0')) node.fail("a command must not have NUL in it");
    if (!trimmed(text).empty()) commands.push_back(std::move(text));
  }
  return commands;
}

// The one variable that a build's command may have, as MODAK writes it.
constexpr std::string_view kParallelism = "BUILD_PARALLELISM";

void check_template(const JsonNode& node, std::string_view command) {
  for (std::size_t at = command.find("{{"); at != command.npos; at = command.find("{{", at + 2)) {
    const std::size_t end = command.find("}}", at);
    const std::string_view name = trimmed(command.substr(at + 2, end == command.npos ? end : end - at - 2));
    if (end == command.npos || name != kParallelism)
      node.fail(fmt::format("unknown variable '{{{{{}}}}}'", name.substr(0, 60)),
                "build_command has {{BUILD_PARALLELISM}}");
  }
}

JobBuild read_build(const JsonNode& node) {
  JobBuild build;
  if (auto source = present(node, "src"); source && !PartReader::is_blank(*source)) {
    build.source = read_option(*source);
    static constexpr std::array kSchemes = {"https://", "http://",  "ftp://", "git://",
                                            "ssh://",   "file:///", "git@"};
    const bool known =
        std::ranges::any_of(kSchemes, [&](const char* scheme) { return build.source.starts_with(scheme); });
    if (!known)
      source->fail(fmt::format("invalid source address '{}'", build.source), "for example https://…");
    const std::string_view last = last_part(build.source);
    if (last.empty() || last == ".." || last.find_first_of(kWhiteSpace) != last.npos)
      source->fail(fmt::format("'{}' ends in no name of a file", build.source));
  }
  if (auto command = present(node, "build_command"); command && !PartReader::is_blank(*command)) {
    build.command = command->string();
    if (contains(build.command, '\0')) command->fail("a command must not have NUL in it");
    check_template(*command, build.command);
  }
  if (auto cores = present(node, "build_parallelism")) build.cores = read_count(*cores, 1, kMostCores);
  return build;
}

// A document may come from anybody: it names files below its own folder, and no others.
// `has_target`: DIR:/path is the folder DIR.
std::string file_below(const JsonNode& node, bool has_target) {
  std::string named = node.line_of_text();
  const std::filesystem::path path = has_target ? named.substr(0, named.rfind(":/")) : named;
  const bool leaves = path.is_absolute() || contains(path, std::filesystem::path(".."));
  if (leaves)
    node.fail(fmt::format("'{}' is not below the folder of the document", named), "name it from there on");
  return named;
}

JobDerivation read_derivation(const JsonNode& node) {
  node.allow_only({"name", "requirements", "copy", "run", "test"});
  JobDerivation derivation{node.at("name").line_of_text()};
  auto file = [&](const char* key, std::string& value) {
    if (auto named = present(node, key)) value = file_below(*named, key == std::string_view("copy"));
    return !value.empty();
  };
  const bool adds_packages = file("requirements", derivation.requirements);
  const bool adds_files = file("copy", derivation.copy);
  const bool runs = file("run", derivation.run);
  file("test", derivation.test);
  if (!adds_packages && !adds_files && !runs)
    node.fail("nothing to add to the image", "name requirements, copy or run");
  return derivation;
}

void read_command_of(const PartReader& part, JobRequest& job) {
  for (const char* key : {"executable", "arguments"}) {
    const auto text = part.find(key);
    if (!text) continue;
    for (CommandWord& word : read_command(*text, job.notes)) job.command.push_back(std::move(word));
    if (key == std::string_view("executable") && job.command.empty()) return;  // as if it were absent
  }
}

void read_application(const JsonNode& node, JobRequest& job) {
  const PartReader part(node, job);
  part.option("app_tag", job.application);
  job.application = lower_case(job.application);
  part.name("app_type", job.app_type);
  job.app_type = lower_case(job.app_type);
  read_command_of(part, job);
  part.option("container_runtime", job.image);
  part.count("mpi_ranks", job.ranks, 1, kMostProcesses);
  part.count("threads", job.threads, 1, kMostCores);
  if (auto efficiency = part.find("minimal_efficiency")) {
    job.efficiency = efficiency->number();
    if (!(*job.efficiency > 0 && *job.efficiency <= 1))
      efficiency->fail("expected an efficiency over 0, and at most 1");
  }
  if (auto classes = part.filled("storage_class_pref"))
    for (const std::string& name : classes->strings()) job.storage_classes.emplace_back(trimmed(name));
  if (auto commands = part.find("pre-execution")) job.before = read_shell_commands(*commands);
  if (auto commands = part.find("post-execution")) job.after = read_shell_commands(*commands);
  if (auto build = part.find("build")) job.build = read_build(*build);
  if (auto derivation = part.find("derive")) job.derivation = read_derivation(*derivation);
  if (auto checkpoint = part.find("checkpoint")) {
    checkpoint->allow_only(
        {"path", "interval", "signal", "before", "failure_rate", "write_time", "size", "bandwidth"});
    job.checkpoint = read_checkpoint(*checkpoint);
  }
}

// Of `ai_framework-NAME` or `parallelisation-KIND`: what enforcement scripts have conditions on.
void read_features(const JsonNode& parts, const std::string& key, JobRequest& job) {
  for (const auto& [name, part] : parts.members()) {
    if (lower_case(name) != key || !part.is_object()) continue;
    for (const auto& [option, value] : part.members())
      if (!contains(option, "version") && (value.is_string() || value.is_number() || value.is_boolean()))
        job.features[lower_case(option)] = scalar_text(value, {});
  }
}

void read_library(const JsonNode& optimisation, JobRequest& job) {
  auto hpc = present(optimisation, "app_type-hpc");
  if (!hpc) return;
  std::string kind = "mpi";
  if (auto config = present(*hpc, "config"))
    if (auto named = present(*config, "parallelisation")) kind = lower_case(named->line_of_text());
  read_features(*hpc, "parallelisation-" + kind, job);
  if (auto library = job.features.find("library"); library != job.features.end() && job.application.empty())
    job.application = library->second;
}

// What the choice of the image says of the run.
void read_optimisation_of(const JsonNode& job_node, JobRequest& job) {
  auto optimisation = present(job_node, "optimisation");
  if (!optimisation) optimisation = present(job_node, "optimization");
  if (!optimisation) return;
  if (auto type = present(*optimisation, "app_type"); type && job.app_type.empty())
    job.app_type = lower_case(type->line_of_text());
  if (auto workload = present(*optimisation, "workload")) job.workload = workload->line_of_text();
  read_library(*optimisation, job);
  auto training = present(*optimisation, "app_type-ai_training");
  auto config = training ? present(*training, "config") : std::nullopt;
  if (!config) return;
  if (auto framework = present(*config, "ai_framework"))
    job.framework = lower_case(framework->line_of_text());
  job.application = job.framework;
  read_features(*training, "ai_framework-" + job.framework, job);
  const PartReader part(*config, job);
  part.truth("distributed_training", job.distributed);
}

void check_words(const JsonNode& node, const std::vector<std::string>& words, bool lenient, JobRequest& job) {
  if (!lenient) return node.allow_only(words);
  for (const auto& [key, value] : node.members())
    if (key != "$schema" && !contains(words, key))
      job.notes.push_back(fmt::format("unknown key '{}' (at {})", key, node.where_key(key).pointer));
}

}  // namespace

Scheduler read_scheduler(const JsonNode& node) {
  const std::string word = lower_case(trimmed(node.line_of_text()));
  if (word == "none") return Scheduler::bash;
  if (word == "pbs") return Scheduler::openpbs;
  if (auto scheduler = kSchedulers.find(word)) return *scheduler;
  node.fail(
      fmt::format("unknown scheduler '{}': expected {} or none", word, fmt::join(kSchedulers.all(), ", ")),
      did_you_mean(word, kSchedulers.all()));
}

void JobRequest::fail(std::string_view key, const std::string& message, const std::string& hint) const {
  const auto place = places.find(key);
  if (place == places.end()) throw Error(ExitCode::input, message, hint);
  throw Error(ExitCode::input, place->second, message, hint);
}

JobRequest read_job_request(const JsonDocument& document, bool lenient) {
  JobRequest job;
  const JsonNode root = document.root();
  if (!root.is_object())
    root.fail("expected an object with 'job' or 'application', found " + describe_type(root.value()));
  const JsonNode node = present(root, "job").value_or(root);
  if (auto options = present(node, "job_options")) {
    check_words(*options, dsl_words().job_options, lenient, job);
    read_options(*options, job);
  }
  if (auto target = present(node, "target")) {
    check_words(*target, dsl_words().target, lenient, job);
    read_target(*target, job);
  }
  if (auto application = present(node, "application")) {
    check_words(*application, dsl_words().application, lenient, job);
    if (auto build = present(*application, "build"))
      check_words(*build, dsl_words().application_build, lenient, job);
    read_application(*application, job);
  }
  read_optimisation_of(node, job);
  return job;
}

}  // namespace kiln
