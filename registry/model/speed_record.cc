#include "registry/model/speed_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

// Of one core, in thousands of millions a second: far beyond machines of 2026, and far below any of them.
struct RateBound {
  std::string_view name;
  double least, most;
};
constexpr RateBound kRateBounds[] = {{"triad", 0.01, 200}, {"copy", 0.01, 400},    {"sgemm", 0.05, 1000},
                                     {"dgemm", 0.02, 500}, {"disk_write", 0, 100}, {"disk_read", 0, 200}};

std::vector<std::string> feature_names() {
  std::vector<std::string> names;
  for (const ModelFeature& feature : model_features()) names.emplace_back(feature.name);
  return names;
}

void refuse_impossible(const HostDescription& host) {
  const double cores = std::max(1, host.cores);
  for (const RateBound& bound : kRateBounds) {
    const auto rate = host.rates.find(std::string(bound.name));
    if (rate == host.rates.end()) continue;
    const double per_core = rate->second / cores;
    if (!(std::isfinite(rate->second) && rate->second > 0) || per_core < bound.least || per_core > bound.most)
      throw Error(ExitCode::input,
                  fmt::format("the host's {} of {:g} {} cannot be: a core has between {:g} and {:g}, and the "
                              "host has {:g}",
                              bound.name, rate->second, unit_of_host_rate(bound.name), bound.least,
                              bound.most, cores),
                  "`kiln host --measure` measures it");
  }
}

}  // namespace

const std::vector<ModelFeature>& model_features() {
  static const std::vector<ModelFeature> kFeatures = {
      {"operations", true, false, false, "multiplications of a step"},
      {"parameters", true, false, false, "numbers that the network learns"},
      {"batch", true, false, false, "samples of a step"},
      {"input_bytes", true, false, false, "input of a step"},
      {"activations", true, false, false, "numbers that layers hand on, of a step"},
      {"ranks", true, false, false, "processes that train together"},
      {"threads", true, false, false, "threads of each process"},
      {"triad", true, false, false, "GB/s of memory"},
      {"sgemm", true, false, false, "GFLOP/s of one precision"},
      {"dgemm", true, false, false, "GFLOP/s of double precision"},
      {"cores", true, false, false, "processors of the host"},
      {"memory", true, false, false, "bytes of the host"},
      {"device", false, true, false, "cpu or accelerator that computes"},
      {"microarchitecture", false, true, false, "archspec's name of the processor"},
      {"host", false, true, false, "name of an external host, of which only results are known"},
      {"framework", false, true, false, "framework of the image"},
      {"version", false, false, false, "framework and its version"},
      {"compilers", false, false, false, "graph compilers that are in use"},
      {"method", false, false, false, "how the framework was built"},
      {"target", false, false, false, "processor that the image is for"},
      {"libraries", false, false, false, "libraries that the image's cell names"},
      {"runtimes", false, false, false, "allocators and the like"},
      {"precision", false, false, false, "format of the numbers"},
      {"layout", false, false, false, "order of the dimensions of an input"},
      {"workload", false, false, false, "name of the workload, where its amounts do not say all"},
      {"network_family", false, false, true, "first word of the network's name"},
  };
  return kFeatures;
}

const ModelFeature* find_model_feature(std::string_view name) {
  for (const ModelFeature& feature : model_features())
    if (feature.name == name) return &feature;
  return nullptr;
}

void add_host(SpeedRecord& record, const HostDescription& host) {
  refuse_impossible(host);
  for (const char* rate : {"triad", "sgemm", "dgemm"})
    if (auto found = host.rates.find(rate); found != host.rates.end()) record.amounts[rate] = found->second;
  if (host.cores > 0) record.amounts["cores"] = host.cores;
  if (host.memory_bytes > 0) record.amounts["memory"] = static_cast<double>(host.memory_bytes);
  if (!host.cpu.empty()) record.words["microarchitecture"] = host.cpu;
  record.host = fmt::format("{}, {} processors", host.model.empty() ? host.cpu : host.model, host.cores);
}

static std::string known_names(const std::string& workload, const std::set<std::string>& names) {
  constexpr std::size_t kMostNamed = 20;
  if (names.size() <= kMostNamed) return fmt::format("there are: {}", fmt::join(names, ", "));
  const std::string near = did_you_mean(workload, {names.begin(), names.end()});
  return near.empty() ? fmt::format("{} others were measured, such as {}", names.size(), *names.begin())
                      : near;
}

SpeedRecord workload_question(const std::vector<SpeedRecord>& records, const std::string& workload) {
  std::set<std::string> names;
  SpeedRecord question;
  question.workload = workload;
  bool found = false;
  for (const SpeedRecord& record : records) {
    names.insert(record.workload);
    if (record.workload != workload) continue;
    if (!found) {
      for (const char* name :
           {"operations", "parameters", "batch", "input_bytes", "activations", "ranks", "threads"})
        if (auto amount = record.amounts.find(name); amount != record.amounts.end())
          question.amounts.insert(*amount);
      for (const char* name : {"device", "precision", "layout", "workload", "network_family"})
        if (auto word = record.words.find(name); word != record.words.end()) question.words.insert(*word);
    }
    std::erase_if(question.amounts, [&](const auto& amount) {
      const auto other = record.amounts.find(amount.first);
      return other == record.amounts.end() || other->second != amount.second;
    });
    std::erase_if(question.words, [&](const auto& word) {
      const auto other = record.words.find(word.first);
      return other == record.words.end() || other->second != word.second;
    });
    found = true;
  }
  if (!found)
    throw Error(ExitCode::no_match, fmt::format("no run of '{}' was measured", workload),
                names.empty() ? "`kiln bench` measures it" : known_names(workload, names));
  return question;
}

void set_model_feature(SpeedRecord& record, std::string_view name, const std::string& value) {
  const ModelFeature* feature = find_model_feature(name);
  if (feature == nullptr)
    throw Error(ExitCode::input, fmt::format("the model has no feature '{}'", name),
                did_you_mean(name, feature_names()));
  if (!feature->amount) {
    record.words[std::string(name)] = value;
    return;
  }
  const auto amount = as_number<double>(value);
  if (!amount || !std::isfinite(*amount) || *amount <= 0)
    throw Error(ExitCode::input, fmt::format("{}: '{}' is not a number over 0", name, value));
  record.amounts[std::string(name)] = *amount;
}

}  // namespace kiln
