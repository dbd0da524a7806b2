#include "factory/run/trial_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/quote.h"
#include "factory/base/reading.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

constexpr const char* kOptions = "KILN_SCRIPT_OPTIONS";

Json json_of(const TuningSubject& subject) {
  const BenchRequest& request = subject.request;
  Json json{{"format", 1},
            {"cell", request.image.request.id},
            {"manifest", request.manifest.text()},
            {"workload", request.workload.name},
            {"start", request.workload.methods.front().script},
            {"steps", request.wishes.steps},
            {"stock", request.stock},
            {"host", to_json(request.host)},
            {"kiln", request.kiln},
            {"session", request.session},
            {"workload_files", request.workload_files},
            {"is_script", subject.is_script}};
  put(json, "metric", subject.metric);
  if (!request.wishes.data.empty()) json["data"] = fs::absolute(request.wishes.data).string();
  return json;
}

template <typename Read>
auto read_own(const fs::path& file, const Read& read) {
  return read_node_file(file, "a tuning", "tune --again", read);
}

}  // namespace

void TrialFiles::write(const TuningSubject& subject, const std::string& plan) const {
  write_program(subject.request.workload, plan);
  files().write(folder() / "subject.json", json_of(subject).dump(2) + "\n");
}

std::string TrialFiles::key_of(const TuningJob& job) const {
  TuningJob plain = job;
  for (TuningStart& start : plain) start.patience = 0;
  return Digest::of(folder().filename().string() + to_json(plain).dump()).hex();
}

void TrialFiles::write(const std::string& key, const TuningJob& job) const {
  files().write(task(key), to_json(job).dump(2) + "\n");
}

std::optional<std::vector<TuningAnswer>> TrialFiles::answers(const std::string& key) const {
  const fs::path file = answer(key);
  if (!files().exists(file)) return std::nullopt;
  return read_own(file, [&] { return tuning_answers_from_json(read_document(files(), file).root()); });
}

NodeTrial::NodeTrial(const fs::path& starts, FileSystem& files)
    : key_(starts.stem().string()), trial_(starts.parent_path(), files), files_(files) {
  job_ = read_own(starts, [&] { return tuning_job_from_json(read_document(files, starts).root()); });
  const fs::path said = trial_.folder() / "subject.json";
  const JsonDocument document = read_own(said, [&] { return read_document(files, said); });
  const JsonNode node = document.root();
  read_own(said, [&] {
    image_ = planned_image(trial_, node.at("cell"), files);
    workload_ = program_in(trial_, node.at("workload").string(), node.at("start").string());
    constexpr std::int64_t kMostStepsOfTrial = 1'000'000;
    WorkloadWishes wishes;
    wishes.steps = static_cast<int>(node.at("steps").integer(0, kMostStepsOfTrial));
    wishes.data = text_at(node, "data");
    subject_.emplace(
        TuningSubject{{image_, Digest::parse(node.at("manifest").string()), workload_, wishes,
                       node.at("stock").boolean(), host_from_json(node.at("host")), node.at("kiln").string(),
                       0, "", node.at("session").string(), node.at("workload_files").string()},
                      text_at(node, "metric"),
                      node.at("is_script").boolean()});
    subject_->request.log = "tune-" + key_;
  });
}

void NodeTrial::run(const HostDescription& here, const StepSetup& setup) {
  if (const auto refusal = refusal_of(subject_->request.host, here))
    return files_.write(trial_.refusal(key_), *refusal);
  files_.write(trial_.answer(key_), to_json(run_starts(*subject_, job_, setup)).dump(2) + "\n");
}

Recipe recipe_of_script(const std::string& name, std::string bytes) {
  Recipe recipe;
  recipe.kind = Kind::workload;
  recipe.name = name;
  const std::string start_name = name + ".start";  // never the script's own
  const std::string program = name.ends_with(".py") ? "python3" : "/bin/sh";
  const std::string start = fmt::format("#!/bin/sh -eu\neval \"set -- ${{{}:-}}\"\nexec {} {} \"$@\"\n",
                                        kOptions, program, shell_word("./" + name));
  for (auto& [path, text] : {std::pair(start_name, start), std::pair(name, std::move(bytes))})
    recipe.files[path] = {path, Digest::of(text), text};
  Method method;
  method.script = start_name;
  recipe.methods = {std::move(method)};
  return recipe;
}

std::map<std::string, std::string> script_environment(const TuningSetting& setting) {
  std::map<std::string, std::string> environment;
  std::string options;
  for (const auto& [name, value] : setting)
    if (is_option(name))
      options += (options.empty() ? "" : " ") + shell_word(name + "=" + value);
    else
      environment[name] = value;
  if (!options.empty()) environment[kOptions] = options;
  return environment;
}

}  // namespace kiln
