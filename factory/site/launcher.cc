#include "factory/site/launcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/keys.h"
#include "factory/base/reading.h"

namespace kiln {
namespace {

bool asks(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word.find(kPartition) != std::string::npos; });
}

SlurmSite read_slurm(const JsonNode& launcher) {
  launcher.allow_only(keys_of("site/launcher"));
  return read_slurm_site(launcher.at("slurm"));
}

}  // namespace

LauncherConfig read_launcher(const JsonNode& site) {
  LauncherConfig launcher;
  const auto words = site.find("launcher");
  if (words && words->is_object())
    launcher.slurm = read_slurm(*words);
  else if (words)
    for (const JsonNode& word : words->items()) launcher.words.push_back(read_text(word));
  const auto partition = site.find("partition");
  if (partition) launcher.partition = read_text(*partition);
  if (partition && launcher.slurm)
    partition->fail("the launcher names its partitions itself", "in \"default\" of \"slurm\"");
  if (partition && !asks(launcher.words))
    partition->fail("no word of the launcher asks for a partition",
                    fmt::format("such as \"--partition={}\"", kPartition));
  if (words && asks(launcher.words) && !partition)
    words->fail(fmt::format("{} has no name", kPartition),
                "add \"partition\": the one for all that needs no other");
  return launcher;
}

std::vector<std::string> launcher_words(const LauncherConfig& launcher, const std::string& partition) {
  if (launcher.slurm) return {};
  if (!partition.empty() && !asks(launcher.words))
    throw Error(
        ExitCode::usage,
        launcher.words.empty() ? "the site file has no launcher, so there are no partitions"
                               : "no word of the site's launcher asks for a partition",
        fmt::format("\"launcher\": [\"srun\", \"-n1\", \"--partition={}\"], \"partition\": …", kPartition));
  std::vector<std::string> words = launcher.words;
  const std::string& name = partition.empty() ? launcher.partition : partition;
  for (std::string& word : words)
    if (const std::size_t at = word.find(kPartition); at != std::string::npos)
      word.replace(at, std::string_view(kPartition).size(), name);
  return words;
}

}  // namespace kiln
