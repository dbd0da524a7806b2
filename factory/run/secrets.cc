#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "factory/base/secret_mask.h"
#include "factory/run/script.h"

namespace kiln {
namespace {

constexpr std::uintmax_t kMostSecret = 1u << 20;

[[noreturn]] void fail(const Site& site, const std::string& name, std::string message,
                       std::string hint = "") {
  throw Error(ExitCode::input, {site.file, 0, 0, "/secrets" + (name.empty() ? "" : "/" + name)},
              std::move(message), std::move(hint));
}

std::string value_of_variable(const Site& site, const std::string& name, const std::string& variable,
                              const std::map<std::string, std::string>& environment) {
  auto found = environment.find(variable);
  if (found != environment.end() && !found->second.empty()) return found->second;
  fail(site, name,
       fmt::format("the secret '{}' should be in the environment variable {}, which is not set", name,
                   variable));
}

// Regular files of a sane size only: a pipe would never end.
std::string bytes_of_file(const Site& site, const std::string& name, const std::string& file) {
  std::error_code problem;
  const fs::file_status status = fs::status(file, problem);
  if (!fs::exists(status))
    fail(site, name, fmt::format("the secret '{}' should be in {}, which is missing", name, file));
  if (!fs::is_regular_file(status) || fs::file_size(file, problem) > kMostSecret || problem)
    fail(site, name,
         fmt::format("the secret '{}' should be in {}, which is no file of at most 1 MiB", name, file));
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(stream), {});
  if (stream.bad() || !stream.is_open())
    fail(site, name, fmt::format("the secret '{}' is in {}, which cannot be read", name, file));
  return bytes;
}

void write_private(const fs::path& file, const std::string& bytes) {
  std::ofstream stream(file, std::ios::binary);
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  stream << bytes << std::flush;
  if (!stream) throw Error(ExitCode::store, fmt::format("cannot write {}", file.string()));
}

}  // namespace

HandedSecrets hand_in_secrets(const std::vector<std::string>& names, const Site& site,
                              const std::map<std::string, std::string>& environment, const fs::path& folder) {
  HandedSecrets handed;
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::owner_all);
  for (const std::string& name : names) {
    auto place = site.secrets.find(name);
    if (place == site.secrets.end())
      fail(site, "",
           fmt::format("the recipe needs the secret '{}', and the site file does not say where it is", name),
           fmt::format("\"secrets\": {{\"{}\": \"/path/to/file\"}}", name));
    std::string bytes;
    fs::path source = place->second.file;
    if (source.empty()) {
      source = folder / name;
      bytes = value_of_variable(site, name, place->second.variable, environment);
      write_private(source, bytes);
    } else {
      bytes = bytes_of_file(site, name, source);
      fs::create_symlink(source, folder / name);
    }
    handed.mounts.push_back({source, fmt::format("{}/{}", kSecretsInside, name)});
    for (std::string& word : words_of_secret(bytes)) handed.hidden.push_back(std::move(word));
  }
  return handed;
}

}  // namespace kiln
