#include "factory/site/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "factory/base/reading.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::string_view kAgeHint = "a whole number and s, m, h or d, such as \"30d\"";
constexpr std::int64_t kMostSnapshots = 1'000'000;

void read_limits(const JsonNode& node, Site& site) {
  node.allow_only(keys_of("site/limits"));
  site.step_limits = replaced(site.step_limits, read_own_limits(node));
  if (auto components = node.find("components"))
    for (const auto& [name, own] : components->members()) {
      if (std::ranges::count(name, '/') != 1)
        own.fail(fmt::format("unknown component '{}'", name), "kind/name, for example framework/pytorch");
      own.allow_only(keys_of("site/component_limits"));
      site.component_limits.emplace(name, read_own_limits(own));
    }
  if (auto retries = node.find("retries")) site.step_retries = static_cast<int>(retries->integer(0, 100));
}

void read_pull_limits(const JsonNode& node, PullLimits& limits) {
  node.allow_only(keys_of("site/pull"));
  if (auto wall = node.find("wall")) limits.wall = read_limit_of_time(*wall);
  if (auto stall = node.find("stall")) limits.stall = read_limit_of_time(*stall);
  if (auto retries = node.find("retries")) limits.retries = static_cast<int>(retries->integer(0, 100));
}

// A snapshot's number may be written as one.
std::string read_kept(const JsonNode& node) {
  return node.is_number() ? std::to_string(node.integer(1, std::numeric_limits<std::int64_t>::max()))
                          : read_text(node);
}

void read_retention(const JsonNode& node, Retention& retention) {
  node.allow_only(keys_of("site/gc"));
  auto read_age = [](const JsonNode& age) { return read_duration(age, "an age", kAgeHint); };
  if (auto age = node.find("keep_for")) retention.keep_for = read_age(*age);
  if (auto count = node.find("keep_snapshots"))
    retention.keep_snapshots = static_cast<int>(count->integer(1, kMostSnapshots));
  if (auto age = node.find("keep_steps_for")) retention.keep_steps_for = read_age(*age);
  if (auto keep = node.find("keep"))
    for (const JsonNode& one : keep->items()) retention.keep.push_back(read_kept(one));
}

// A secret is looked for when it is needed: whoever only plans may have no right to see it.
std::string read_secret_file(const JsonNode& node, const std::string& hint) {
  std::string file = node.line_of_text();
  if (!file.starts_with('/')) node.fail(fmt::format("expected an absolute path, found '{}'", file), hint);
  return file;
}

SecretSource read_secret_place(const JsonNode& node) {
  if (node.is_object()) {
    node.allow_only(keys_of("site/secret"));
    const JsonNode variable = node.at("environment");
    if (!is_variable_name(variable.string()))
      variable.fail(fmt::format("'{}' is not a variable's name", variable.string()),
                    "letters, digits and _, and no digit first");
    return {"", variable.string()};
  }
  return {read_secret_file(node, "or {\"environment\": \"NAME\"} for a secret in a variable"), ""};
}

GateRule read_gate(const JsonNode& node) {
  node.allow_only(keys_of("site/gate"));
  GateRule gate{read_text(node.at("name")), {}};
  for (const JsonNode& pattern : read_at_least_one(node.at("cells"), "a pattern"))
    gate.cells.push_back(read_text(pattern));
  return gate;
}

MoveInterval read_move_interval(const JsonNode& node) {
  const std::string text = node.is_number() ? "" : node.string();
  if (text == "never") return std::nullopt;
  if (text == "each") return std::chrono::seconds(0);
  return read_duration(node, "\"each\", \"never\" or a duration",
                       "a whole number and s, m, h or d, such as \"7d\"");
}

void read_update_policy(const JsonNode& node, UpdatePolicy& policy) {
  node.allow_only(keys_of("site/update"));
  if (auto bases = node.find("bases")) policy.bases = read_move_interval(*bases);
  if (auto archives = node.find("archives")) policy.archives = read_move_interval(*archives);
  if (auto tables = node.find("archspec"))
    policy.archspec = read_word_of(*tables, {"each", "never"}, "how often") == "each";
  if (auto count = node.find("proposals")) policy.proposals = static_cast<int>(count->integer(0, 1000));
}

// It need not be there: `kiln mirror` makes a mirror, and a scratch disk may be on other machines only.
std::string read_folder_name(const JsonNode& node) {
  std::string path = node.line_of_text();
  if (!path.starts_with('/')) node.fail(fmt::format("expected an absolute path, found '{}'", path));
  return path;
}

void read_nightly(const JsonNode& node, Site& site) {
  NightSettings& night = site.night;
  node.allow_only(keys_of("site/nightly"));
  if (auto every = node.find("every")) {
    night.every = read_limit_of_time(*every);
    night.has_every = true;
  }
  if (auto remind = node.find("remind")) night.remind = read_limit_of_time(*remind);
  if (auto metrics = node.find("metrics")) night.metrics = read_folder_name(*metrics);
  if (auto lease = node.find("lease")) {
    night.lease = read_limit_of_time(*lease);
    if (night.lease < std::chrono::seconds(5)) lease->fail("a lease of less than 5 s cannot be kept");
  }
  if (auto keep = node.find("keep")) night.keep = static_cast<int>(keep->integer(2, 10'000));
  if (auto gate = node.find("gate"))
    for (const JsonNode& job : gate->items()) night.gate.push_back(read_gate(job));
  if (auto webhook = node.find("webhook")) night.webhook = read_secret_place(*webhook);
  if (auto command = node.find("command"))
    for (const JsonNode& word : command->items()) night.command.push_back(read_text(word));
  if (auto update = node.find("update")) read_update_policy(*update, site.update);
}

// True with "sif". The OCI image is what all else is made from, so it cannot be left out.
bool read_formats(const JsonNode& node) {
  bool oci = false;
  bool sif = false;
  for (const JsonNode& item : node.items()) {
    bool& named = read_word_of(item, {"oci", "sif"}, "an image format") == "sif" ? sif : oci;
    if (named) item.fail(fmt::format("'{}' is named twice", item.string()));
    named = true;
  }
  if (!oci) node.fail("'oci' is missing", "a SIF is made from the OCI image: \"oci\", \"sif\"");
  return sif;
}

std::string read_environment_glob(const JsonNode& node) {
  std::string text = node.string();
  std::string plain = text;
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c == '*' || c == '?'; }, '_');
  if (!is_variable_name(plain))
    node.fail(fmt::format("expected the name of an environment variable, found '{}'", text),
              "letters, digits and _; * and ? stand for others, as in PIP_*");
  return text;
}

std::string read_builder(const JsonNode& node) {
  std::string uri = node.line_of_text();
  std::size_t colon = uri.find(':');
  if (colon == uri.npos || colon == 0 || contains(uri, ' '))
    node.fail(fmt::format("expected a URI, found '{}'", uri), "for example https://ci.example.org/kiln");
  return uri;
}

// A file that the site wants handed on: naming one that is not there is a mistake, not a default.
std::string read_file_name(const JsonNode& node, const FileSystem& files) {
  std::string path = node.line_of_text();
  if (!path.starts_with('/')) node.fail(fmt::format("expected an absolute path, found '{}'", path));
  if (!files.exists(path)) node.fail(fmt::format("there is no file '{}' on this machine", path));
  if (files.is_directory(path)) node.fail(fmt::format("expected a file, '{}' is a folder", path));
  return path;
}

std::map<std::string, SecretSource> read_secrets(const JsonNode& node) {
  std::map<std::string, SecretSource> secrets;
  for (const auto& [name, place] : node.members()) {
    if (!is_name(name))
      throw Error(ExitCode::input, node.where_key(name), fmt::format("'{}' is not a secret's name", name),
                  "letters, digits and _ . + - only, and a letter or digit first");
    secrets.emplace(name, read_secret_place(place));
  }
  return secrets;
}

// False, or {"folder": …, "size": …}.
CacheSettings read_cache_settings(const JsonNode& node) {
  CacheSettings settings;
  if (node.is_boolean()) {
    settings.use = node.boolean();
    return settings;
  }
  node.allow_only(keys_of("site/cache"));
  if (auto folder = node.find("folder")) {
    settings.folder = folder->line_of_text();
    if (!settings.folder.starts_with('/') || contains(settings.folder, ':'))
      folder->fail(fmt::format("expected an absolute path without a colon, found '{}'", settings.folder));
  }
  if (auto size = node.find("size")) {
    settings.size = read_limit_of_size(*size);
    if (settings.size < (64u << 20)) size->fail("less than 64MiB holds nothing", "false switches caches off");
  }
  return settings;
}

SiteAlias read_alias(const JsonNode& node) {
  node.allow_only(keys_of("site/alias"));
  const JsonNode named = node.at("name");
  const std::string name = named.string();
  const std::size_t colon = name.rfind(':');
  SiteAlias alias{name.substr(0, colon), colon == name.npos ? "" : name.substr(colon + 1), {}};
  if (!is_repository_name(alias.repository) || !is_tag(alias.tag))
    named.fail(fmt::format("expected the name of an image, found '{}'", name),
               "REPOSITORY:TAG, such as \"modak:tensorflow-2.1-gpu-src\"");
  for (const JsonNode& pattern : read_at_least_one(node.at("images"), "pattern"))
    alias.images.push_back(read_text(pattern));
  return alias;
}

std::vector<SiteAlias> read_aliases(const JsonNode& node) {
  std::vector<SiteAlias> aliases;
  for (const JsonNode& item : node.items()) {
    SiteAlias alias = read_alias(item);
    if (std::ranges::any_of(aliases, [&](const SiteAlias& other) { return other.name() == alias.name(); }))
      item.at("name").fail(fmt::format("'{}' is named twice", alias.name()), "one name, one choice");
    aliases.push_back(std::move(alias));
  }
  return aliases;
}

PublishDestination read_publish(const JsonNode& node) {
  node.allow_only(keys_of("site/publish"));
  PublishDestination place;
  place.registry = read_text(node.at("registry"));
  if (auto key = node.find("key")) place.key = read_secret_file(*key, "");
  if (auto passphrase = node.find("passphrase_file")) {
    if (place.key.empty()) passphrase->fail("it goes with \"key\", which is missing");
    place.passphrase_file = read_secret_file(*passphrase, "");
  }
  if (auto aliases = node.find("aliases")) place.aliases = read_aliases(*aliases);
  return place;
}

// A place needs signatures or a private folder: other builders trust nothing that is unsigned, and without a
// trusted key kiln reads nothing.
void check_trust(const JsonNode& node, const StepSharing& place) {
  if (place.registry.empty() == place.folder.empty())
    node.fail(place.folder.empty() ? "it names no place for steps" : "it names two places for steps",
              "either \"registry\" or \"folder\"");
  if (place.is_private && place.folder.empty())
    node.at("private").fail("without signatures, any writer to the registry is trusted",
                            "\"key\" and \"trust\" name the trusted signers");
  if (!place.is_private && place.key.empty() && place.trust.empty())
    node.fail(
        "nothing that comes from there would be believed",
        "\"trust\" names public keys, \"key\" signs; \"private\": true for a folder that only this user "
        "writes to");
}

StepSharing read_shared_steps(const JsonNode& node) {
  node.allow_only(keys_of("site/steps"));
  StepSharing place;
  if (auto registry = node.find("registry")) place.registry = read_text(*registry);
  if (auto folder = node.find("folder")) place.folder = read_secret_file(*folder, "");
  if (auto is_private = node.find("private")) place.is_private = is_private->boolean();
  if (auto key = node.find("key")) place.key = read_secret_file(*key, "");
  if (auto passphrase = node.find("passphrase_file")) {
    if (place.key.empty()) passphrase->fail("it goes with \"key\", which is missing");
    place.passphrase_file = read_secret_file(*passphrase, "");
  }
  if (auto trust = node.find("trust"))
    for (const JsonNode& key : trust->items()) place.trust.push_back(read_secret_file(key, ""));
  if (auto age = node.find("keep_for")) place.keep_for = read_duration(*age, "an age", kAgeHint);
  check_trust(node, place);
  return place;
}

bool read_collect_registry(const JsonNode& gc, const PublishDestination& place) {
  const auto node = gc.find("registry");
  if (!node || !node->boolean()) return false;
  if (place.registry.empty()) node->fail("there is no \"publish\" with a registry to collect in");
  return true;
}

}  // namespace

CommandLimits Site::limits_of(const std::string& component, const OwnLimits& recipes) const {
  const CommandLimits limits = widened(step_limits, recipes);
  auto found = component_limits.find(component);
  return found == component_limits.end() ? limits : replaced(limits, found->second);
}

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> kNames = {"buildah", "podman", "docker", "apptainer"};
  return kNames;
}

Site read_site(const FileSystem& files, const fs::path& file) {
  const JsonDocument document = read_document(files, file);
  const JsonNode root = document.root();
  root.allow_only(keys_of("site"));
  Site site;
  site.file = file.string();
  if (auto engine = root.find("engine")) site.engine = read_word_of(*engine, engine_names(), "an engine");
  if (auto scratch = root.find("scratch")) site.scratch = read_folder_name(*scratch);
  site.launcher = read_launcher(root);
  if (auto jobs = root.find("jobs")) site.jobs = static_cast<int>(jobs->integer(0, 1024));
  if (auto compression = root.find("layer_compression"))
    site.layer_compression = read_word_of(*compression, {"zstd", "gzip"}, "a compression of layers") == "gzip"
                                 ? LayerCompression::gzip
                                 : LayerCompression::zstd;
  if (auto level = root.find("zstd_level")) site.zstd_level = static_cast<int>(level->integer(1, 19));
  if (auto evidence = root.find("evidence"))
    site.evidence_fails = read_word_of(*evidence, {"fail", "report"}, "what evidence does") == "fail";
  if (auto formats = root.find("formats")) site.sif = read_formats(*formats);
  if (auto builder = root.find("builder")) site.builder = read_builder(*builder);
  if (auto limits = root.find("limits")) read_limits(*limits, site);
  if (auto pull = root.find("pull")) read_pull_limits(*pull, site.pull_limits);
  if (auto names = root.find("pass_environment")) {
    site.pass_environment.clear();
    for (const JsonNode& name : names->items()) site.pass_environment.push_back(read_environment_glob(name));
  }
  if (auto path = root.find("ca_certificates")) site.ca_certificates = read_file_name(*path, files);
  if (auto path = root.find("pip_configuration")) site.pip_configuration = read_file_name(*path, files);
  if (auto secrets = root.find("secrets")) site.secrets = read_secrets(*secrets);
  if (auto cache = root.find("cache")) site.cache = read_cache_settings(*cache);
  if (auto gc = root.find("gc")) read_retention(*gc, site.retention);
  if (auto night = root.find("nightly")) read_nightly(*night, site);
  if (auto publish = root.find("publish")) site.publish = read_publish(*publish);
  if (auto steps = root.find("steps")) site.shared_steps = read_shared_steps(*steps);
  if (auto gc = root.find("gc")) site.collect_registry = read_collect_registry(*gc, site.publish);
  if (auto path = root.find("mirror")) site.mirror = read_folder_name(*path);
  if (auto path = root.find("git_configuration")) site.git_configuration = read_file_name(*path, files);
  return site;
}

Site find_site(const FileSystem& files, const std::map<std::string, std::string>& environment) {
  auto value = [&](const char* name) { return value_or(environment, name); };
  if (std::string named = value("KILN_SITE"); !named.empty()) {
    try {
      return read_site(files, named);
    } catch (Error& error) {
      error.while_doing("reading the site file that KILN_SITE names");
      throw;
    }
  }
  if (files.exists("site.json")) return read_site(files, "site.json");
  // The XDG base directory specification: a relative path counts as unset, and unset means ~/.config.
  fs::path configuration = value("XDG_CONFIG_HOME");
  if (!configuration.is_absolute() && !value("HOME").empty())
    configuration = fs::path(value("HOME")) / ".config";
  if (configuration.is_absolute() && files.exists(configuration / "kiln" / "site.json"))
    return read_site(files, configuration / "kiln" / "site.json");
  return Site{};
}

}  // namespace kiln
