#include "factory/import/legacy_pins.h"

#include <algorithm>
#include <vector>

#include "factory/base/text.h"

namespace kiln {
namespace {

// "==0.8.5" of pip, "0.8.5" of conda, "=2024.4-1" of apt.
std::string exact_version(std::string_view written) {
  while (written.starts_with('=')) written.remove_prefix(1);
  return leading_version(written);
}

std::string plain_name(std::string_view text) {
  std::string name = lower_case(text);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// "2024.4" of ".../gromacs-2024.4.tar.gz" and of ".../v2024.4.tar.gz" in a repository of that name.
std::string version_in_address(const std::string& address, const std::string& name) {
  const std::string file = plain_name(last_part(address));
  for (std::string_view between : {"-", "-v", ""})
    if (file.starts_with(name + std::string(between)))
      if (std::string version = leading_version(file.substr(name.size() + between.size())); !version.empty())
        return version;
  return plain_name(address).find("/" + name + "/") == std::string::npos ? "" : leading_version(file);
}

std::string repository_name(const std::string& url) {
  std::string name = plain_name(last_part(url));
  if (const std::size_t at = name.find('@'); at != std::string::npos) name.resize(at);
  return name.ends_with(".git") ? name.substr(0, name.size() - 4) : name;
}

Said version_of(const LegacyFacts& facts, const std::string& name) {
  for (const SaidMap* packages : {&facts.pip, &facts.conda, &facts.wheels, &facts.packages}) {
    auto found = packages->find(name);
    if (found == packages->end()) continue;
    if (std::string version = exact_version(found->second.value); !version.empty())
      return {version, found->second.line};
  }
  for (const auto& [url, reference] : facts.clones) {
    std::string reference_version = reference.value;
    if (plain_name(reference_version).starts_with(name + "-"))  // tags such as gromacs-2024.4
      reference_version.erase(0, name.size() + 1);
    if (std::string version = leading_version(reference_version);
        repository_name(url) == name && !version.empty())
      return {version, reference.line};
  }
  for (const auto& [url, said] : facts.downloads)
    if (std::string version = version_in_address(url, name); !version.empty()) return {version, said.line};
  std::string variable = upper_case(name);
  std::replace(variable.begin(), variable.end(), '-', '_');
  for (const char* end : {"_VERSION", "_VER", "_TAG"})
    if (auto found = facts.settings.find(variable + end); found != facts.settings.end())
      if (std::string version = leading_version(found->second.value); !version.empty())
        return {version, found->second.line};
  return {};
}

}  // namespace

std::string leading_version(std::string_view text) {
  if (text.starts_with('v') || text.starts_with('V') || text.starts_with('r')) text.remove_prefix(1);
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  std::string version(text.substr(0, end));
  while (version.ends_with('.')) version.pop_back();
  return version;
}

Said pinned_version(const LegacyFacts& facts, const std::string& name) {
  const std::string whole = plain_name(name);
  std::vector<std::string> candidates;
  for (std::string front = whole;;) {  // "a-b-c", "a-b", "a"
    candidates.push_back(front);
    const std::size_t end = front.rfind('-');
    if (end == std::string::npos) break;
    front.resize(end);
  }
  for (std::string_view word : split(whole, '-'))
    if (word.size() > 2) candidates.emplace_back(word);
  for (const std::string& candidate : candidates)
    if (Said said = version_of(facts, candidate); !said.value.empty()) return said;
  return {};
}

}  // namespace kiln
