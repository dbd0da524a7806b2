// Lockfile ← JSON. People review and merge these files, so every mistake is named at its place.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/base/keys.h"
#include "factory/base/reading.h"
#include "factory/recipe/component_value.h"
#include "factory/recipe/lockfile.h"

namespace kiln {
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
  try {
    return Digest::parse(node.string());
  } catch (const Error& error) {
    if (!error.where().file.empty()) throw;
    node.fail(error.message(), error.hint());
  }
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
  if (!kind_from(kind)) {
    std::string hint = did_you_mean(kind, kind_names());
    refuse(hint.empty() ? fmt::format("kinds: {}", fmt::join(kind_names(), ", ")) : hint);
  }
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
      since->fail(fmt::format("expected a date, found '{}'", entry.since), "such as 2026-11-23T10:00:00Z");
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
