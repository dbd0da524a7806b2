#include "factory/mirror/mirror.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/enum_names.h"
#include "factory/base/json_put.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

constexpr auto kKinds = enum_names<MirrorKind>({{MirrorKind::index, "index"},
                                                {MirrorKind::key, "key"},
                                                {MirrorKind::package, "package"},
                                                {MirrorKind::wheel, "wheel"},
                                                {MirrorKind::archive, "archive"},
                                                {MirrorKind::commit, "commit"},
                                                {MirrorKind::image, "image"}});

bool is_path_byte(char c) {
  return is_letter_or_digit(c) || std::string_view("._+~-:=@,^").find(c) != std::string_view::npos;
}

std::string key_of(const MirrorItem& item) {
  return item.commit.empty() ? item.path : item.path + " " + item.commit;
}

Json to_json(const MirrorSuite& suite) {
  return {{"folder", suite.folder},
          {"suite", suite.suite},
          {"components", suite.components},
          {"options", suite.options}};
}

Json to_json(const MirrorArchive& archive) {
  Json json{{"base", archive.base}, {"architecture", archive.architecture}, {"suites", Json::array()}};
  put(json, "state", archive.state);
  for (const MirrorSuite& suite : archive.suites) json["suites"].push_back(to_json(suite));
  return json;
}

Json to_json(const MirrorItem& item) {
  Json json{{"kind", name_of(item.kind)}, {"name", item.name}, {"path", item.path}, {"cells", item.cells}};
  put(json, "digest", item.digest.text());
  if (item.size != 0) json["size"] = item.size;
  put(json, "commit", item.commit);
  put(json, "source", item.source);
  return json;
}

std::string path_from(const JsonNode& node) {
  std::string path = node.string();
  if (!is_inside(path)) node.fail(fmt::format("'{}' is no path in a mirror", path));
  return path;
}

// A line of a source: what would begin another one is refused.
std::string word_from(const JsonNode& node) {
  std::string text = node.line_of_text();
  if (text.empty()) node.fail("expected a word");
  return text;
}

MirrorSuite suite_from(const JsonNode& node) {
  node.allow_only({"folder", "suite", "components", "options"});
  MirrorSuite suite{path_from(node.at("folder")), node.at("suite").string(), "", node.at("options").string()};
  if (suite.suite != kFlatSuite) {
    path_from(node.at("suite"));
    suite.components = word_from(node.at("components"));
  } else if (!node.at("components").string().empty()) {
    node.at("components").fail("an archive without suites has no components");
  }
  for (std::string_view line : split(suite.options, '\n'))
    if (!line.empty() && !line.starts_with("Signed-By: ") && !line.starts_with("Trusted: ") &&
        !line.starts_with(' '))
      node.at("options").fail("expected Signed-By and Trusted");
  return suite;
}

MirrorArchive archive_from(const JsonNode& node) {
  node.allow_only({"base", "architecture", "state", "suites"});
  MirrorArchive archive{node.at("base").line_of_text(), node.at("architecture").line_of_text(), "", {}};
  if (auto state = node.find("state")) archive.state = state->line_of_text();
  for (const JsonNode& suite : node.at("suites").items()) archive.suites.push_back(suite_from(suite));
  return archive;
}

std::string commit_from(const JsonNode& node) {
  std::string commit = node.string();
  const bool hex = std::ranges::all_of(commit, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  if (!hex || (commit.size() != 40 && commit.size() != 64)) node.fail("expected a commit");
  return commit;
}

MirrorItem item_from(const JsonNode& node, std::size_t cells) {
  node.allow_only({"kind", "name", "path", "digest", "size", "commit", "source", "cells"});
  MirrorItem item;
  const std::string kind = node.at("kind").string();
  if (const auto known = kKinds.find(kind))
    item.kind = *known;
  else
    node.at("kind").fail(fmt::format("a mirror has no entries of the kind '{}'", kind));
  item.name = node.at("name").line_of_text();
  item.path = path_from(node.at("path"));
  if (auto digest = node.find("digest")) item.digest = Digest::parse(digest->string());
  if (auto size = node.find("size")) item.size = static_cast<std::uint64_t>(size->integer(0, kMost));
  if (auto commit = node.find("commit")) item.commit = commit_from(*commit);
  if (auto source = node.find("source")) item.source = source->line_of_text();
  const bool is_commit = item.kind == MirrorKind::commit;
  if (is_commit != item.digest.empty()) node.fail("all but commits, and only they, have a digest");
  if (is_commit == item.commit.empty()) node.fail("commits, and only they, have a commit");
  for (const JsonNode& cell : node.at("cells").items())
    item.cells.insert(static_cast<std::uint32_t>(cell.integer(0, static_cast<std::int64_t>(cells) - 1)));
  return item;
}

}  // namespace

std::string deb822_of(const MirrorSuite& suite, const std::string& uri, const std::string& options) {
  const std::string components =
      suite.components.empty() ? "" : fmt::format("Components: {}\n", suite.components);
  return fmt::format("Types: deb\nURIs: {}\nSuites: {}\n{}{}\n", uri, suite.suite, components, options);
}

std::string_view name_of(MirrorKind kind) { return kKinds.of(kind); }

bool is_inside(std::string_view path) {
  if (path.empty() || path.size() > 1024) return false;
  for (std::string_view part : split(path, '/'))
    if (part.empty() || part.size() > 255 || part.front() == '.' || part.front() == '-' ||
        !std::ranges::all_of(part, is_path_byte))
      return false;
  return true;
}

std::string file_name_of(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  while (url.ends_with('/')) url.remove_suffix(1);
  url = url.substr(url.rfind('/') + 1);
  std::string name;
  for (char c : url.substr(0, 200)) {
    const bool plain = is_letter_or_digit(c) || std::string_view("._+~-").find(c) != std::string_view::npos;
    name += plain ? c : '_';
  }
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "_");
  return name;
}

std::string image_path(std::string_view reference, std::string_view architecture) {
  return "images/" + Digest::of(fmt::format("{} {}", reference, architecture)).hex().substr(0, 16);
}

std::uint32_t Mirror::cell(const std::string& name) {
  const auto found = std::ranges::find(cells, name);
  if (found != cells.end()) return static_cast<std::uint32_t>(found - cells.begin());
  cells.push_back(name);
  return static_cast<std::uint32_t>(cells.size() - 1);
}

void Mirror::add(MirrorItem item) {
  if (!is_inside(item.path))
    throw Error(ExitCode::store,
                fmt::format("'{}' is no name that a mirror keeps a file by", without_controls(item.path)));
  auto [known, is_new] = items.try_emplace(key_of(item), item);
  if (is_new) return;
  item.cells.insert(known->second.cells.begin(), known->second.cells.end());
  known->second = std::move(item);
}

const MirrorArchive* Mirror::archive(std::string_view base, std::string_view architecture,
                                     std::string_view state) const {
  const auto found = std::find_if(archives.rbegin(), archives.rend(), [&](const MirrorArchive& one) {
    return one.base == base && one.architecture == architecture && (state.empty() || one.state == state);
  });
  return found == archives.rend() ? nullptr : &*found;
}

const MirrorItem* Mirror::image(std::string_view reference, std::string_view architecture) const {
  const auto found = items.find(image_path(reference, architecture));
  const bool is_it =
      found != items.end() && found->second.kind == MirrorKind::image && found->second.source == reference;
  return is_it ? &found->second : nullptr;
}

const MirrorItem* Mirror::source(std::string_view url, std::string_view checksum) const {
  for (const auto& [key, item] : items) {
    if (item.source != url) continue;
    if (item.kind == MirrorKind::archive && item.digest.text() == checksum) return &item;
    if (item.kind == MirrorKind::commit && "git:" + item.commit == checksum) return &item;
  }
  return nullptr;
}

const MirrorItem* Mirror::wheel(const Digest& digest) const {
  for (const auto& [key, item] : items)
    if (item.kind == MirrorKind::wheel && item.digest == digest) return &item;
  return nullptr;
}

void Mirror::forget(std::string_view matrix, const std::set<std::string>& but) {
  const std::string before = fmt::format("{}/", matrix);
  auto is_gone = [&](std::uint32_t cell) {
    return cells[cell].starts_with(before) && !but.contains(cells[cell]);
  };
  for (auto& [key, item] : items) std::erase_if(item.cells, is_gone);
}

Json to_json(const Mirror& mirror) {
  Json archives = Json::array(), items = Json::array();
  for (const MirrorArchive& archive : mirror.archives) archives.push_back(to_json(archive));
  for (const auto& [key, item] : mirror.items) items.push_back(to_json(item));
  return {{"mirror", kVersion},
          {"cells", mirror.cells},
          {"archives", std::move(archives)},
          {"items", std::move(items)}};
}

Mirror read_mirror(const JsonDocument& document) {
  const JsonNode root = document.root();
  root.allow_only({"mirror", "cells", "archives", "items"});
  if (const std::int64_t version = root.at("mirror").integer(0, kMost); version != kVersion)
    root.at("mirror").fail(fmt::format("version {} of the format; this kiln knows {}", version, kVersion));
  Mirror mirror;
  for (const JsonNode& cell : root.at("cells").items()) mirror.cells.push_back(cell.line_of_text());
  for (const JsonNode& archive : root.at("archives").items())
    mirror.archives.push_back(archive_from(archive));
  for (const JsonNode& item : root.at("items").items()) mirror.add(item_from(item, mirror.cells.size()));
  return mirror;
}

}  // namespace kiln
