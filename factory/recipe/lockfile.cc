#include "factory/recipe/lockfile.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/effects.h"
#include "factory/base/reading.h"
#include "factory/recipe/component_value.h"

namespace kiln {
namespace {

// "1a2b3c4d5e6f" of "sha256:1a2b3c4d5e6f7890…"; other text as it is.
std::string short_digest(const std::string& text) {
  constexpr std::string_view kPrefix = "sha256:";
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size(), 12) : text;
}

std::string source_of(const LockEntry& entry) {
  return entry.source_url.empty() ? "" : entry.source_url + " " + entry.source_checksum;
}

// The parts of an entry that a person reviews, by the words that name them.
std::map<std::string, std::string> parts_of(const LockEntry& entry) {
  std::map<std::string, std::string> parts = {{"image", entry.image},
                                              {"floating", entry.floating},
                                              {"source", source_of(entry)},
                                              {"source ref", entry.source_ref},
                                              {"recipe", entry.recipe.text()}};
  for (const auto& [architecture, digest] : entry.digests) parts["digest " + architecture] = digest.text();
  for (const auto& [architecture, archive] : entry.archives) parts["archive " + architecture] = archive;
  std::erase_if(parts, [](const auto& part) { return part.second.empty(); });
  return parts;
}

void compare_entries(const std::string& id, const LockEntry& before, const LockEntry& now,
                     std::vector<LockChange>& changes) {
  auto old_parts = parts_of(before);
  auto parts = parts_of(now);
  std::set<std::string> names;
  for (const auto& [name, value] : old_parts) names.insert(name);
  for (const auto& [name, value] : parts) names.insert(name);
  for (const std::string& name : names)
    if (old_parts[name] != parts[name]) changes.push_back({id, name, old_parts[name], parts[name]});
}

// What an entry pins, for the line that says it came or went.
std::string pinned_by(const LockEntry& entry) {
  std::string text;
  for (const auto& [name, value] : parts_of(entry))
    if (name != "recipe") text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, short_digest(value));
  return text.empty() ? "nothing to fetch" : text;
}

Json to_json(const LockEntry& entry) {
  Json json = {{"recipe", entry.recipe.text()}};
  if (!entry.image.empty()) json["image"] = entry.image;
  for (const auto& [architecture, digest] : entry.digests) json["digests"][architecture] = digest.text();
  if (!entry.archives.empty()) json["archives"] = entry.archives;
  if (!entry.floating.empty()) json["floating"] = entry.floating;
  if (!entry.source_url.empty())
    json["source"] = {{"url", entry.source_url}, {"checksum", entry.source_checksum}};
  if (!entry.source_ref.empty()) json["source"]["ref"] = entry.source_ref;
  if (!entry.since.empty()) json["since"] = entry.since;
  return json;
}

}  // namespace

Digest recipe_digest(const Recipe& recipe, const FileSystem& files) {
  Json parts = {{"recipe.json", Digest::of(files.read(recipe.file).value_or("")).text()}};
  for (const auto& [path, file] : recipe.files) parts["files"][path] = file.digest.text();
  return Digest::of(parts.dump());
}

std::string lock_id(Kind kind, const std::string& name, const std::string& version,
                    const std::string& method) {
  return fmt::format("{}/{}@{}:{}", name_of(kind), name, version, method);
}

fs::path lockfile_beside(const fs::path& matrix) {
  return matrix.parent_path() / (matrix.stem().string() + ".lock.json");
}

Json to_json(const Lockfile& lock) {
  Json components = Json::object();
  bool dated = false;
  for (const auto& [id, entry] : lock.entries) {
    components[id] = to_json(entry);
    dated = dated || !entry.since.empty();
  }
  // What has no dates, earlier programs read as well.
  return {{"lock", dated ? 2 : 1}, {"archspec", lock.archspec}, {"components", std::move(components)}};
}

std::string lockfile_text(const Lockfile& lock) { return to_json(lock).dump(2) + "\n"; }

void pin_recipes(RecipeBook& recipes, const Lockfile& lock) {
  for (const auto& [id, entry] : lock.entries) {
    const Recipe* known = recipes.find(entry.kind, entry.name);
    if (known == nullptr || (entry.digests.empty() && entry.archives.empty())) continue;
    Recipe recipe = *known;
    for (ComponentVersion& version : recipe.versions) {
      const Method* method = recipe.find_method(entry.method);
      if (version.version != entry.version || method == nullptr) continue;
      Pin pin;
      if (base_reference(*method, version.version) == entry.image) pin.digests = entry.digests;
      if (!method->archive.empty()) pin.archives = entry.archives;
      version.pins[entry.method] = std::move(pin);
    }
    recipes.add(std::move(recipe));
  }
}

std::vector<LockChange> compare_locks(const Lockfile& before, const Lockfile& now) {
  std::vector<LockChange> changes;
  if (before.archspec != now.archspec)
    changes.push_back({"archspec", "entry", before.archspec, now.archspec});
  std::set<std::string> ids;
  for (const auto& [id, entry] : before.entries) ids.insert(id);
  for (const auto& [id, entry] : now.entries) ids.insert(id);
  for (const std::string& id : ids) {
    auto old_entry = before.entries.find(id);
    auto entry = now.entries.find(id);
    if (old_entry == before.entries.end()) {
      changes.push_back({id, "entry", "", pinned_by(entry->second)});
    } else if (entry == now.entries.end()) {
      changes.push_back({id, "entry", pinned_by(old_entry->second), ""});
    } else {
      compare_entries(id, old_entry->second, entry->second, changes);
    }
  }
  return changes;
}

Json to_json(const LockChange& change) {
  return {{"id", change.id}, {"what", change.what}, {"before", change.before}, {"now", change.now}};
}

std::string text_of(const LockChange& change) {
  std::string what = change.what == "entry" ? "" : change.what + " ";
  if (change.before.empty()) return fmt::format("{}: {}new ({})", change.id, what, short_digest(change.now));
  if (change.now.empty()) return fmt::format("{}: {}gone ({})", change.id, what, short_digest(change.before));
  return fmt::format("{}: {}{} → {}", change.id, what, short_digest(change.before), short_digest(change.now));
}

// Lockfile ← JSON. People review and merge these files, so every mistake is named at its place.

namespace {

// A word of OCI's: amd64, arm64, ppc64le.
void check_architecture_name(const JsonNode& node, const std::string& name) {
  bool word = !name.empty() && name.size() <= 32 &&
              name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
  if (!word)
    throw Error(ExitCode::input, node.where_key(name), fmt::format("'{}' is no architecture", name),
                "OCI's words: amd64, arm64, ppc64le");
}

Digest read_digest(const JsonNode& node) {
  const std::string text = node.string();
  return node.placed([&] { return Digest::parse(text); });
}

void read_source(const JsonNode& node, LockEntry& entry) {
  node.allow_only(keys_of("lock/source"));
  entry.source_url = read_text(node.at("url"));
  entry.source_checksum = read_text(node.at("checksum"));
  if (auto ref = node.find("ref")) entry.source_ref = read_text(*ref);
}

// "base/ubuntu@18.04:hub" → kind, name, version and method.
LockEntry entry_named(const std::string& id, const SourceLocation& where) {
  auto refuse = [&](const std::string& hint) {
    throw Error(ExitCode::input, where, fmt::format("'{}' is no entry's name", id), hint);
  };
  std::size_t slash = id.find('/');
  std::size_t at = id.rfind('@');
  std::size_t colon = id.rfind(':');
  if (slash == std::string::npos || at == std::string::npos || colon == std::string::npos || slash > at ||
      at > colon)
    refuse("kind/name@version:method, such as base/ubuntu@18.04:hub");
  LockEntry entry;
  std::string kind = id.substr(0, slash);
  if (!kind_from(kind)) refuse(did_you_mean(kind, kind_names(), "kinds: "));
  entry.kind = *kind_from(kind);
  entry.name = id.substr(slash + 1, at - slash - 1);
  std::string version = id.substr(at + 1, colon - at - 1);
  entry.method = id.substr(colon + 1);
  if (!is_name(entry.name) || !is_name(version) || !is_name(entry.method))
    refuse("kind/name@version:method, such as base/ubuntu@18.04:hub");
  entry.version = version_at(version, where);
  entry.where = where;
  return entry;
}

LockEntry read_entry(const std::string& id, const JsonNode& node, const SourceLocation& where) {
  LockEntry entry = entry_named(id, where);
  node.allow_only(keys_of("lock/entry"));
  if (auto image = node.find("image")) entry.image = read_text(*image);
  if (auto digests = node.find("digests")) {
    if (entry.image.empty())
      digests->fail("digests without an image", "name the image that has these digests");
    for (const auto& [architecture, digest] : digests->members()) {
      check_architecture_name(*digests, architecture);
      entry.digests[architecture] = read_digest(digest);
    }
  }
  if (auto archives = node.find("archives")) {
    for (const auto& [architecture, archive] : archives->members()) {
      check_architecture_name(*archives, architecture);
      entry.archives[architecture] = read_text(archive);
    }
  }
  if (auto floating = node.find("floating")) entry.floating = read_text(*floating);
  if (auto source = node.find("source")) read_source(*source, entry);
  entry.recipe = read_digest(node.at("recipe"));
  if (auto since = node.find("since")) {
    entry.since = since->string();
    const auto seconds = unix_seconds_of(entry.since);
    if (!seconds || rfc3339(*seconds) != entry.since)
      since->fail(fmt::format("expected a date, found '{}'", entry.since),
                  "for example 2026-11-23T10:00:00Z");
  }
  return entry;
}

void check_version(const JsonNode& root) {
  const JsonNode version = root.at("lock");
  std::int64_t number = version.integer(1, INT32_MAX);
  if (number > 2)
    version.fail(fmt::format("this lockfile is of version {}, and this kiln reads versions 1 and 2", number),
                 "use the kiln that wrote it, or write it again with kiln lock");
}

}  // namespace

Lockfile read_lockfile(const JsonDocument& document) {
  const JsonNode root = document.root();
  check_version(root);
  root.allow_only(keys_of("lock"));
  Lockfile lock;
  lock.file = document.file();
  lock.archspec = read_text(root.at("archspec"));
  lock.archspec_where = root.at("archspec").where();
  const JsonNode components = root.at("components");
  std::map<std::tuple<Kind, std::string, std::string>, std::vector<const LockEntry*>> seen;
  for (const auto& [id, node] : components.members()) {
    LockEntry entry = read_entry(id, node, components.where_key(id));
    auto& same = seen[{entry.kind, entry.name, entry.method}];
    for (const LockEntry* other : same)
      if (other->version == entry.version)
        throw Error(ExitCode::input, entry.where, fmt::format("'{}' is here twice", id),
                    fmt::format("version {} is {}: first at {}", entry.version.text(), other->version.text(),
                                other->where.pointer));
    same.push_back(&lock.entries.emplace(id, std::move(entry)).first->second);
  }
  return lock;
}

}  // namespace kiln
