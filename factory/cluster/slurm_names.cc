#include "factory/cluster/slurm_names.h"

#include <vector>

#include "factory/base/text.h"

namespace kiln {
namespace {

void add_listed(std::set<std::string>& names, std::string_view list) {
  for (const std::string_view name : split(list, ','))
    if (!trimmed(name).empty()) names.emplace(trimmed(name));
}

// The values of an option of sbatch in both of its spellings: "--account=x", "--account x", "-Ax", "-A x".
void add_option(std::set<std::string>& names, const std::vector<std::string>& words,
                const std::string& long_name, const std::string& short_name) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == long_name || word == short_name) {
      if (i + 1 < words.size()) add_listed(names, words[++i]);
    } else if (word.starts_with(long_name + "=")) {
      add_listed(names, std::string_view(word).substr(long_name.size() + 1));
    } else if (word.starts_with(short_name) && !word.starts_with("--")) {
      add_listed(names, std::string_view(word).substr(short_name.size()));
    }
  }
}

void add_words(SlurmNames& names, const std::vector<std::string>& words) {
  add_option(names.partitions, words, "--partition", "-p");
  add_option(names.accounts, words, "--account", "-A");
}

void add_place(SlurmNames& names, const SlurmPlace& place) {
  add_listed(names.partitions, place.partition);
  add_words(names, place.arguments);
}

}  // namespace

SlurmNames names_of(const SlurmSite& site) {
  SlurmNames names;
  add_words(names, site.arguments);
  add_place(names, site.standard);
  for (const auto& [key, place] : site.partitions) add_place(names, place);
  return names;
}

std::set<std::string> partitions_in(std::string_view text) {
  constexpr std::string_view kName = "PartitionName=";
  std::set<std::string> names;
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with(kName)) names.emplace(line.substr(kName.size(), line.find(' ') - kName.size()));
  return names;
}

std::set<std::string> accounts_in(std::string_view text) {
  std::set<std::string> names;
  for (const std::string_view line : split(text, '\n'))
    if (!trimmed(line).empty()) names.emplace(trimmed(line));
  return names;
}

}  // namespace kiln
