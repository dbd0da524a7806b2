#include "factory/recipe/recipe_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/recipe/component_value.h"
#include "factory/recipe/native_flag.h"
#include "factory/recipe/parameters.h"
#include "factory/recipe/recipe_needs.h"

namespace kiln {
namespace {

std::string read_url(const JsonNode& node) {
  std::string url = read_text(node);
  if (!contains(url, "://") || contains(url, ' '))
    node.fail(fmt::format("expected a URL, found '{}'", url), "for example https://…");
  return url;
}

ComponentVersion read_source(const JsonNode& node, ComponentVersion version) {
  node.allow_only(keys_of("recipe/source"));
  version.source_url = read_url(node.at("url"));
  const JsonNode checksum = node.at("checksum");
  version.source_checksum = checksum.string();
  std::string_view text = version.source_checksum;
  bool sha256 = text.starts_with("sha256:") && text.size() == 7 + 64 && is_hex(text.substr(7));
  bool commit = text.starts_with("git:") && text.size() == 4 + 40 && is_hex(text.substr(4));
  if (!sha256 && !commit)
    checksum.fail(fmt::format("expected a checksum, found '{}'", text),
                  "sha256: and 64 lower-case hex digits, or git: and the 40 of a commit");
  return version;
}

// What the build machine happens to be must not decide what is in an image.
void refuse_native(const std::string& variable, const JsonNode& value) {
  const std::string text = value.string();
  std::string bad = native_flag(text);
  if (bad.empty() && text == "native" && (is_gpu_variable(variable) || is_compiler_variable(variable)))
    bad = text;
  if (!bad.empty())
    value.fail(fmt::format("'{}' means the machine that builds, and images are for the target", bad),
               "scripts find the target's flags in CFLAGS and the like: docs/formats/targets.md");
}

// The name of the file must be told from others: "*", "*.so" and "lib*" would switch the judgement off.
bool names_a_file(std::string_view pattern) {
  std::string_view name = pattern.substr(pattern.rfind('/') + 1);
  name = name.substr(0, name.find('.'));
  if (name.starts_with("lib")) name.remove_prefix(3);
  return std::ranges::any_of(name, is_letter_or_digit);
}

std::string read_pattern(const JsonNode& node) {
  std::string pattern = read_text(node);
  if (!pattern.starts_with('/') && !pattern.starts_with("*/"))
    node.fail(fmt::format("expected a path in the image, found '{}'", pattern),
              "begin with / or with */, as in */libxgboost.so; * is any text");
  if (!names_a_file(pattern))
    node.fail(fmt::format("'{}' accepts more than one program or library", pattern),
              "write the file's name, as in */libxgboost.so");
  return pattern;
}

std::string read_method_of(const JsonNode& node, const Recipe& recipe) {
  std::vector<std::string> names;
  for (const Method& method : recipe.methods) names.push_back(method.name);
  return read_word_of(node, names, "a method of this recipe");
}

}  // namespace

std::string read_role(const JsonNode& node) {
  std::string role = node.string();
  if (!is_fact_name(role))
    node.fail(fmt::format("expected a role, found '{}'", role),
              "small letters, digits and _, and no digit first, such as allocator");
  if (role == "none" || kind_from(role))
    node.fail(fmt::format("'{}' has another meaning in a matrix and cannot be a role", role));
  return role;
}

ComponentVersion read_version_facts(const std::string& version, const JsonNode& node) {
  node.allow_only(keys_of("recipe/version"));
  ComponentVersion one{Version(version), {}, "", "", node.where()};
  if (auto facts = node.find("facts")) {
    for (const auto& [fact, value] : facts->members()) {
      if (!is_fact_name(fact))
        throw Error(ExitCode::input, facts->where_key(fact), fmt::format("'{}' is not a fact's name", fact),
                    "small letters, digits and _, and no digit first: scripts see KILN_FACT_<NAME>");
      one.facts[fact] = read_text(value);
      refuse_native(fact, value);
    }
    if (one.facts.contains("compiler") != one.facts.contains("compiler_version"))
      facts->fail("the facts 'compiler' and 'compiler_version' go together",
                  "flags depend on both: {\"compiler\": \"gcc\", \"compiler_version\": \"14.2\"}");
  }
  if (auto base = node.find("build_on")) one.build_on = BuildBase{Version(base->name()), base->where()};
  if (auto source = node.find("source")) return read_source(*source, std::move(one));
  return one;
}

namespace {

// PEP 508's names.
std::string read_package_name(const JsonNode& node) {
  std::string name = node.string();
  auto inner = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; };
  if (name.empty() || name.size() > 128 || !is_letter_or_digit(name.front()) ||
      !is_letter_or_digit(name.back()) || !std::ranges::all_of(name, inner))
    node.fail(fmt::format("'{}' is not a package's name", name),
              "letters, digits and . _ - only, and a letter or digit at both ends");
  return name;
}

std::string read_tag_pattern(const JsonNode& node) {
  std::string pattern = node.string();
  auto allowed = [](char c) { return is_letter_or_digit(c) || contains("_./+-*", c); };
  if (std::ranges::count(pattern, '*') != 1 || !std::ranges::all_of(pattern, allowed))
    node.fail(fmt::format("expected a pattern of tags, found '{}'", pattern),
              "one * stands for the version, as in v*; letters, digits and _ . / + - next to it");
  return pattern;
}

Upstream read_one_upstream(const JsonNode& node) {
  node.allow_only(keys_of("recipe/upstream"));
  Upstream upstream;
  upstream.where = node.where();
  auto package = node.find("pypi");
  auto repository = node.find("git");
  if (package.has_value() == repository.has_value())
    node.fail(package ? "an upstream is 'pypi' or 'git', not both" : "an upstream needs 'pypi' or 'git'",
              "{\"pypi\": \"torch\"}, or {\"git\": \"https://…\", \"tags\": \"v*\"}");
  if (package) upstream.package = read_package_name(*package);
  if (repository) upstream.repository = read_url(*repository);
  auto tags = node.find("tags");
  if (tags.has_value() != repository.has_value())
    node.fail(tags ? "only a repository has 'tags'" : "which tags of the repository are releases?",
              "add \"tags\": \"v*\" next to 'git'; * stands for the version");
  if (tags) upstream.tags = read_tag_pattern(*tags);
  if (auto range = node.find("versions")) upstream.versions = read_range(*range);
  return upstream;
}

}  // namespace

std::vector<Upstream> read_upstream(const JsonNode& node) {
  std::vector<Upstream> all;
  if (!node.is_array()) return {read_one_upstream(node)};
  for (const JsonNode& item : read_at_least_one(node, "upstream")) all.push_back(read_one_upstream(item));
  return all;
}

Optimise read_optimise(const JsonNode& node) {
  node.allow_only(keys_of("recipe/optimise"));
  Optimise optimise;
  auto set = [](OptimiseSetting& setting, std::string word) { setting = {std::move(word), "the method"}; };
  if (auto level = node.find("level"))
    set(optimise.level, read_word_of(*level, {"0", "1", "2", "3", "s"}, "a level"));
  if (auto lto = node.find("lto")) {
    if (lto->is_boolean())
      set(optimise.lto, lto->boolean() ? "full" : "off");
    else
      set(optimise.lto, read_word_of(*lto, {"thin"}, "true, false or \"thin\""));
  }
  if (auto pgo = node.find("pgo"))
    set(optimise.pgo, read_word_of(*pgo, {"generate", "use"}, "a step of PGO"));
  if (auto profile = node.find("profile")) optimise.profile = read_absolute_path(*profile);
  if (optimise.says_nothing() && optimise.profile.empty())
    node.fail("expected level, lto, pgo or profile, found an empty object");
  return optimise;
}

Companion read_companion(const JsonNode& node) {
  const std::string text = node.line_of_text();
  const std::size_t at = std::min(text.find('@'), text.size());
  const std::string component = text.substr(0, at);
  const std::size_t slash = std::min(component.find('/'), component.size());
  const std::optional<Kind> kind = kind_from(component.substr(0, slash));
  const std::string name = slash == component.size() ? "" : component.substr(slash + 1);
  if (!kind || !is_name(name))
    node.fail(fmt::format("expected a component, found '{}'", text),
              "for example framework/pytorch or toolchain/python@3.12");
  Companion companion{{*kind, name}, {}, node.where()};
  if (at == text.size()) return companion;
  if (text.substr(at + 1).empty()) node.fail(fmt::format("no version after '@' in '{}'", text));
  companion.range = range_at(text.substr(at + 1), node.where());
  return companion;
}

std::vector<std::string> read_secrets(const JsonNode& node) {
  // What the generated Dockerfile calls the site's own files.
  static const std::vector<std::string> kOfSite = {"pip.conf", "gitconfig", "ca-certificates.crt"};
  std::vector<std::string> names;
  for (const JsonNode& item : read_distinct(node, "secret")) {
    names.push_back(item.name());
    if (contains(kOfSite, names.back()))
      item.fail(fmt::format("'{}' is the site's own, and every script has it", names.back()), "leave it out");
  }
  std::ranges::sort(names);
  return names;
}

void read_cache(const JsonNode& method, Method& read) {
  auto list = method.find("cache");
  if (!list) return;
  std::vector<std::string>& names = read.cache;
  for (const JsonNode& item : read_distinct(*list, "cache")) {
    names.push_back(item.name());
    if (find_cache_kind(names.back()) != nullptr) continue;
    item.fail(fmt::format("there is no cache '{}'", names.back()),
              did_you_mean(names.back(), cache_names(), "caches: "));
  }
  std::ranges::sort(names);
  if (!names.empty() && read.script.empty() && !read.build)
    list->fail("this method has no script that reads it");
}

// Text, or {"value": …, "with": "framework/tensorflow"}.
EnvironmentValue read_environment_value(const JsonNode& node) {
  if (!node.is_object()) return {node.line_of_text()};
  node.allow_only(keys_of("recipe/environment_value"));
  const JsonNode with = node.at("with");
  return {node.at("value").line_of_text(), read_companion(with)};
}

std::map<std::string, EnvironmentValue> read_environment(const JsonNode& node) {
  std::map<std::string, EnvironmentValue> environment;
  for (const auto& [name, value] : node.members()) {
    if (!is_variable_name(name))
      throw Error(ExitCode::input, node.where_key(name), fmt::format("'{}' is not a variable's name", name),
                  "letters, digits and _, and no digit first");
    environment[name] = read_environment_value(value);
    refuse_native(name, value.is_object() ? value.at("value") : value);
  }
  return environment;
}

OwnLimits read_limits(const JsonNode& node) {
  node.allow_only(keys_of("recipe/limits"));
  return read_own_limits(node);
}

void check_script(const JsonNode& node, const std::string& path, std::string_view bytes) {
  if (bytes.empty()) node.fail(fmt::format("the script '{}' is empty", path));
  if (contains(bytes, '\0'))
    node.fail(fmt::format("the script '{}' holds a NUL byte", path), "a script is a text file");
  std::size_t carriage = bytes.find("\r\n");
  if (carriage != std::string_view::npos) {
    auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(carriage), '\n');
    node.fail(fmt::format("line {} of the script '{}' ends in CR LF", line, path),
              "/bin/sh would read the CR as part of the line: save it with LF");
  }
}

void read_accept(const JsonNode& root, Recipe& recipe) {
  const auto list = root.find("accept");
  if (!list) return;
  for (const JsonNode& item : read_at_least_one(*list, "file")) {
    item.allow_only(keys_of("recipe/accept"));
    Acceptance acceptance;
    acceptance.file = {read_pattern(item.at("file")), read_text(item.at("reason"))};
    if (auto method = item.find("method")) acceptance.method = read_method_of(*method, recipe);
    if (auto versions = item.find("versions"))
      acceptance.versions = read_own_range(*versions, recipe.versions);
    acceptance.where = item.where();
    recipe.accept.push_back(std::move(acceptance));
  }
}

}  // namespace kiln
