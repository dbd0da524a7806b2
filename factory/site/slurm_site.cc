#include "factory/site/slurm_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/keys.h"
#include "factory/base/quantity.h"
#include "factory/base/reading.h"

namespace kiln {
namespace {

constexpr int kMostCpus = 4096;

JobSize read_size(const JsonNode& node, JobSize size) {
  if (auto cpus = node.find("cpus")) size.cpus = static_cast<int>(cpus->integer(1, kMostCpus));
  if (auto memory = node.find("memory")) size.memory = read_limit_of_size(*memory);
  if (auto time = node.find("time")) size.time = read_limit_of_time(*time);
  return size;
}

// What says for itself what kiln says in every job would be believed by sbatch, and jobs would not be found.
std::vector<std::string> read_arguments(const JsonNode& node) {
  constexpr std::array kOurs = {"--comment", "--job-name", "-J",         "--output", "-o",
                                "--error",   "-e",         "--parsable", "--wrap",   "--dependency",
                                "-d",        "--array",    "-a",         "--wait",   "-W"};
  std::vector<std::string> arguments;
  for (const JsonNode& item : node.items()) {
    std::string word = read_text(item);
    if (!word.starts_with('-'))
      item.fail(fmt::format("expected an option of sbatch, found '{}'", word), "such as \"--account=ai\"");
    const std::string option = word.substr(0, word.find('='));
    if (std::find(kOurs.begin(), kOurs.end(), option) != kOurs.end())
      item.fail(fmt::format("{} is kiln's own in every job", option));
    arguments.push_back(std::move(word));
  }
  return arguments;
}

// `place`: what holds where it says nothing.
SlurmPlace read_place(const JsonNode& node, SlurmPlace place) {
  node.allow_only(keys_of("site/slurm_place"));
  if (auto partition = node.find("partition")) place.partition = read_text(*partition);
  if (auto arguments = node.find("arguments")) place.arguments = read_arguments(*arguments);
  if (auto cpu = node.find("microarchitecture")) place.microarchitecture = read_text(*cpu);
  place.usual = read_size(node, place.usual);
  if (auto most = node.find("most")) {
    most->allow_only(keys_of("site/slurm_most"));
    place.most = read_size(*most, place.most);
  }
  return place;
}

}  // namespace

SlurmSite read_slurm_site(const JsonNode& node) {
  node.allow_only(keys_of("site/slurm"));
  SlurmSite site;
  if (auto arguments = node.find("arguments")) site.arguments = read_arguments(*arguments);
  if (auto standard = node.find("default")) site.standard = read_place(*standard, {});
  if (auto partitions = node.find("partitions"))
    for (const auto& [name, place] : partitions->members()) {
      SlurmPlace inherited = site.standard;
      inherited.arguments.clear();
      inherited.microarchitecture = name.find(':') == name.npos ? name : "";
      site.partitions.emplace(name, read_place(place, inherited));
    }
  if (auto poll = node.find("poll")) {
    site.poll = read_limit_of_time(*poll);
    if (site.poll < std::chrono::seconds(1)) poll->fail("a controller is asked once a second at most");
  }
  if (auto patience = node.find("patience")) site.patience = read_limit_of_time(*patience);
  return site;
}

SlurmPlace place_named(const SlurmSite& site, const std::string& name) {
  if (auto found = site.partitions.find(name); found != site.partitions.end()) return found->second;
  for (const auto& [key, place] : site.partitions)
    if (place.partition == name) return place;
  SlurmPlace place = site.standard;
  if (place.partition == name) return place;
  place.partition = name;
  place.arguments.clear();
  place.microarchitecture.clear();
  return place;
}

std::vector<std::string> place_words(const SlurmSite& site, const SlurmPlace& place) {
  std::vector<std::string> words;
  if (!place.partition.empty()) words.push_back("--partition=" + place.partition);
  words.insert(words.end(), site.arguments.begin(), site.arguments.end());
  words.insert(words.end(), place.arguments.begin(), place.arguments.end());
  return words;
}

}  // namespace kiln
