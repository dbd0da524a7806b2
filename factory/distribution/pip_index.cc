#include "factory/distribution/pip_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::uint64_t kMostConfiguration = 1u << 20;

// A setting and where it is from.
struct PipSetting {
  std::string value;
  std::string from;
};
using PipSettings = std::map<std::string, PipSetting>;  // by pip's name: "index-url"

// configparser's files: [section], then "name = value" or "name: value"; # and ; begin a comment. Names are
// compared as pip does, without case and with - for _.
void read_configuration(std::string_view text, const std::string& file, PipSettings& settings) {
  PipSettings global, install;
  PipSettings* section = nullptr;
  for (std::string_view line : split(text, '\n')) {
    const bool continued = !line.empty() && (line.front() == ' ' || line.front() == '\t');
    line = trimmed(line);
    if (line.empty() || line.front() == '#' || line.front() == ';' || continued) continue;
    if (line.front() == '[') {
      section = line == "[global]" ? &global : line == "[install]" ? &install : nullptr;
      continue;
    }
    const std::size_t end = line.find_first_of("=:");
    if (section == nullptr || end == std::string_view::npos) continue;
    std::string name = lower_case(trimmed(line.substr(0, end)));
    std::ranges::replace(name, '_', '-');
    (*section)[name] = {std::string(trimmed(line.substr(end + 1))), file};
  }
  for (PipSettings* one : {&global, &install})
    for (auto& [name, setting] : *one) settings.insert_or_assign(name, setting);
}

// In pip's order, the last counts most.
std::vector<std::string> configuration_files(const std::map<std::string, std::string>& environment) {
  auto value = [&](const char* name) { return value_or(environment, name); };
  const std::string named = value("PIP_CONFIG_FILE");
  if (named == "/dev/null") return {};
  std::vector<std::string> places = {"/etc/xdg/pip/pip.conf", "/etc/pip.conf"};
  const std::string home = value("HOME");
  const std::string xdg = value("XDG_CONFIG_HOME");
  if (!home.empty()) places.push_back(home + "/.pip/pip.conf");
  if (!xdg.empty())
    places.push_back(xdg + "/pip/pip.conf");
  else if (!home.empty())
    places.push_back(home + "/.config/pip/pip.conf");
  if (const std::string venv = value("VIRTUAL_ENV"); !venv.empty()) places.push_back(venv + "/pip.conf");
  if (!named.empty()) places.push_back(named);
  return places;
}

bool is_true(const std::string& value) {
  const std::string word = lower_case(value);
  return word == "1" || word == "true" || word == "yes" || word == "on" || word == "y" || word == "t";
}

std::string percent_decoded(std::string_view text) {
  auto digit = [](char c) { return is_digit(c) ? c - '0' : lower_case(c) - 'a' + 10; };
  auto is_digit_of_hex = [](char c) { return is_digit(c) || (lower_case(c) >= 'a' && lower_case(c) <= 'f'); };
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && is_digit_of_hex(text[i + 1]) &&
        is_digit_of_hex(text[i + 2])) {
      decoded += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

bool is_web_url(std::string_view url) {
  return (url.starts_with("https://") || url.starts_with("http://")) &&
         std::ranges::none_of(url, [](char c) { return is_control(c) || c == ' '; });
}

PipIndex read_index(const PipSetting& setting) {
  std::string url = setting.value;
  const std::size_t scheme = url.find("://");
  if (!is_web_url(url))
    throw Error(ExitCode::input,
                fmt::format("{} names a package index that is no http(s) URL", setting.from));
  PipIndex index;
  index.from = setting.from;
  const std::size_t host = scheme + 3;
  const std::size_t path = std::min(url.find('/', host), url.size());
  if (const std::size_t at = url.rfind('@', path); at != std::string::npos && at >= host) {
    index.credentials = percent_decoded(url.substr(host, at - host));
    url.erase(host, at + 1 - host);
  }
  while (url.ends_with('/')) url.pop_back();
  index.url = std::move(url);
  return index;
}

}  // namespace

std::optional<PipIndex> pip_index(const FileSystem& files,
                                  const std::map<std::string, std::string>& environment,
                                  const std::string& file) {
  PipSettings settings;
  for (const std::string& place : file.empty() ? configuration_files(environment) : std::vector{file})
    if (place.starts_with('/') && files.exists(place) && !files.is_directory(place))
      read_configuration(files.read(place, kMostConfiguration).value_or(""), place, settings);
  for (const char* name : {"index-url", "no-index", "cert"}) {
    std::string variable = "PIP_" + upper_case(name);
    std::ranges::replace(variable, '-', '_');
    auto found = environment.find(variable);
    if (found != environment.end() && !found->second.empty()) settings[name] = {found->second, variable};
  }
  if (auto none = settings.find("no-index"); none != settings.end() && is_true(none->second.value))
    return std::nullopt;
  auto found = settings.find("index-url");
  PipIndex index;
  if (found != settings.end() && !found->second.value.empty()) index = read_index(found->second);
  if (auto cert = settings.find("cert"); cert != settings.end()) index.certificates = cert->second.value;
  return index;
}

std::string default_index_in(std::string_view help) {
  constexpr std::string_view kBefore = "(default ";
  const std::size_t option = help.find("--index-url <url>");
  if (option == std::string_view::npos) return "";
  std::string_view line = help.substr(option, help.find('\n', option) - option);
  const std::size_t start = line.find(kBefore);
  if (start == std::string_view::npos) return "";
  line.remove_prefix(start + kBefore.size());
  const std::string_view url = line.substr(0, line.find(')'));
  return is_web_url(url) ? std::string(url) : "";
}

}  // namespace kiln
