#include "factory/sbom/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "factory/base/text.h"
#include "factory/sbom/databases.h"

namespace kiln::sbom {
namespace {

class InventoryReader {
 public:
  InventoryReader(ImageTree& tree, const DatabaseFiles& files) : tree_(tree), files_(files) {}

  Inventory read() {
    find_databases();
    for (const char* place : {"etc/os-release", "usr/lib/os-release"}) {
      if (!inventory_.distribution.id.empty()) break;
      if (const std::string* text = content_at(place)) inventory_.distribution = read_os_release(*text);
    }
    for (const std::string& path : databases_) read_database(path);
    mark_owned();
    finish();
    return std::move(inventory_);
  }

 private:
  // Every file whose name is a database's, by folders from the root: no link is followed, so each is met
  // once.
  void find_databases() {
    std::vector<std::pair<NodeId, std::string>> open{{kRootNode, ""}};
    while (!open.empty()) {
      auto [folder, inside] = std::move(open.back());
      open.pop_back();
      for (NodeId node : tree_.children(folder)) {
        std::string path = inside + std::string(tree_.name(node));
        const Inode& inode = tree_.inode(tree_.inode_at(node));
        if (inode.kind == EntryKind::folder) open.emplace_back(node, path + "/");
        if (inode.kind == EntryKind::file) note_file(path);
      }
    }
    std::ranges::sort(databases_);
  }

  void note_file(const std::string& path) {
    if (path.ends_with("rpm/Packages") || path.ends_with("rpm/Packages.db"))
      gap(path, path.ends_with(".db") ? "RPM's ndb format is not read" : "Berkeley DB is not read");
    if (path.ends_with("rpm/rpmdb.sqlite-wal") && content_at(path) == nullptr)
      gap(path, "changes that are not yet in rpmdb.sqlite are not read");
    if (path.ends_with(".egg"))
      gap(path, "a Python package in one file, as easy_install made it, is not read");
    if (database_limit(path) != 0) databases_.push_back(path);
  }

  void gap(const std::string& path, const std::string& why) {
    std::string line = fmt::format("{}: {}", path, why);
    if (first_not_utf8(line) == line.npos)
      inventory_.gaps.push_back(std::move(line));
    else
      inventory_.gaps.push_back("a file whose name is not UTF-8: " + why);
  }

  const std::string* content_at(const std::string& path) {
    try {
      auto node = tree_.lookup_followed(path);
      if (!node) return nullptr;
      const Inode& inode = tree_.inode(tree_.inode_at(*node));
      return inode.kind == EntryKind::file ? files_.find(inode.payload) : nullptr;
    } catch (const Error&) {  // through too many links
      return nullptr;
    }
  }

  void read_database(const std::string& path) {
    bool list = path.ends_with(".list") || path.ends_with("/copyright") || path.ends_with("/INSTALLER") ||
                path.ends_with("/direct_url.json") || path.ends_with("rpm/rpmdb.sqlite-wal") ||
                path.ends_with("os-release") || path.ends_with(".md5sums");
    if (list) return;  // read with what they belong to
    const std::string* bytes = content_at(path);
    if (bytes == nullptr) return gap(path, "not read: it is too large, or a link to a file of another name");
    try {
      for (Package& package : packages_of(path, *bytes)) add(std::move(package), path);
    } catch (const Error& error) {
      if (error.code() != ExitCode::input) throw;
      gap(path, error.message());
    }
  }

  std::vector<Package> packages_of(const std::string& path, const std::string& bytes) {
    if (path.ends_with("lib/dpkg/status") || contains(path, "lib/dpkg/status.d/"))
      return debian(path, read_dpkg_status(bytes));
    if (path.ends_with("lib/apk/db/installed")) return read_apk_installed(bytes);
    if (path.ends_with("rpm/rpmdb.sqlite")) return read_rpm_database(bytes);
    if (contains(path, "conda-meta/")) return {conda(path, bytes)};
    return {python(path, bytes)};
  }

  // Licences and files of dpkg's packages lie beside: both relative to the root that the database is of.
  std::vector<Package> debian(const std::string& path, std::vector<Package> packages) {
    std::string root = path.substr(0, !contains(path, "var/lib/dpkg/") ? 0 : path.find("var/lib/dpkg/"));
    for (Package& package : packages) {
      package.supplier = inventory_.distribution.name;
      if (const std::string* copyright = content_at(root + "usr/share/doc/" + package.name + "/copyright"))
        package.license = read_debian_copyright(*copyright);
      std::string info = root + "var/lib/dpkg/info/" + package.name;
      const std::string* list = content_at(info + ".list");
      if (list == nullptr) list = content_at(info + ":" + package.architecture + ".list");
      if (list == nullptr) continue;
      for (std::size_t from = 0; from < list->size();) {
        std::size_t end = std::min(list->find('\n', from), list->size());
        std::string_view line = std::string_view(*list).substr(from, end - from);
        if (line.starts_with('/')) package.python.push_back(root + std::string(line.substr(1)));
        from = end + 1;
      }
    }
    return packages;
  }

  // Its files are named from the environment's root.
  static Package conda(const std::string& path, const std::string& bytes) {
    Package package = read_conda_package(bytes);
    for (std::string& file : package.python) file.insert(0, path, 0, path.rfind("conda-meta/"));
    return package;
  }

  Package python(const std::string& path, const std::string& bytes) {
    std::string folder = path.substr(0, path.rfind('/') + 1);
    const std::string* origin =
        path.ends_with("/METADATA") ? content_at(folder + "direct_url.json") : nullptr;
    const std::string* installer = path.ends_with("/METADATA") ? content_at(folder + "INSTALLER") : nullptr;
    Package package = read_python_metadata(bytes, origin != nullptr ? *origin : "");
    if (installer != nullptr) package.installer = installer->substr(0, installer->find('\n'));
    return package;
  }

  void add(Package package, const std::string& path) {
    const std::string* texts[] = {&package.name,       &package.version,  &package.architecture,
                                  &package.homepage,   &package.supplier, &package.installer,
                                  &package.source_name};
    for (const std::string* text : texts)
      if (first_not_utf8(*text) != text->npos || text->size() > 4096)
        return gap(path, "a package whose description is not UTF-8, or too long");
    for (auto& [reference, text] : package.license.extracted)
      if (first_not_utf8(text) != text.npos) text = text.substr(0, first_not_utf8(text));
    package.database = path;
    inventory_.packages.push_back(std::move(package));
  }

  // A Python package that came in a package of the distribution or of conda is a part of that one.
  void mark_owned() {
    std::map<std::string, std::size_t> owners;
    for (std::size_t i = 0; i < inventory_.packages.size(); ++i)
      for (const std::string& path : inventory_.packages[i].python) owners.emplace(path, i);
    for (Package& package : inventory_.packages) {
      if (package.ecosystem != Ecosystem::pypi) continue;
      auto owner = owners.find(package.database);
      if (owner == owners.end()) continue;
      const Package& owning = inventory_.packages[owner->second];
      package.owner = package_url(owning, inventory_.distribution);
    }
  }

  void finish() {
    auto order = [](const Package& package) {
      return std::tie(package.ecosystem, package.name, package.version, package.architecture, package.build,
                      package.database);
    };
    auto& packages = inventory_.packages;
    std::ranges::sort(packages, {}, order);
    std::ranges::sort(inventory_.gaps);
  }

  ImageTree& tree_;
  const DatabaseFiles& files_;
  std::vector<std::string> databases_;
  Inventory inventory_;
};

}  // namespace

Inventory read_inventory(ImageTree& tree, const DatabaseFiles& files) {
  return InventoryReader(tree, files).read();
}

Inventory read_inventory(const SourceImage& image) {
  DatabaseFiles files;
  LayerMerge merge(
      image.layer_count(), [&](std::size_t layer) { return image.open_layer(layer, {}); }, files);
  merge.run();
  return read_inventory(merge.tree(), files);
}

// Inventory as JSON and back, for what is kept of an examined image.

namespace {

struct Field {
  const char* name;
  std::string Package::*member;
};
constexpr std::array kFields = {Field{"name", &Package::name},
                                Field{"version", &Package::version},
                                Field{"epoch", &Package::epoch},
                                Field{"architecture", &Package::architecture},
                                Field{"source_name", &Package::source_name},
                                Field{"source_version", &Package::source_version},
                                Field{"build", &Package::build},
                                Field{"channel", &Package::channel},
                                Field{"supplier", &Package::supplier},
                                Field{"homepage", &Package::homepage},
                                Field{"download", &Package::download},
                                Field{"checksum", &Package::checksum},
                                Field{"installer", &Package::installer},
                                Field{"method", &Package::method},
                                Field{"kind", &Package::kind},
                                Field{"state", &Package::state},
                                Field{"database", &Package::database},
                                Field{"owner", &Package::owner}};

Json to_json(const Package& package) {
  Json json{{"ecosystem", name_of(package.ecosystem)}};
  for (const Field& field : kFields)
    if (const std::string& value = package.*field.member; !value.empty()) json[field.name] = value;
  if (!package.license.empty()) json["license"] = package.license.expression;
  if (!package.license.extracted.empty()) json["extracted"] = package.license.extracted;
  if (!package.python.empty()) json["python"] = package.python;
  return json;
}

Package package_from(const JsonNode& node) {
  Package package;
  const std::string ecosystem = node.at("ecosystem").string();
  auto known = ecosystem_from(ecosystem);
  if (!known) node.fail("'" + ecosystem + "' is no ecosystem");
  package.ecosystem = *known;
  for (const Field& field : kFields)
    if (auto value = node.find(field.name)) package.*field.member = value->string();
  if (auto license = node.find("license")) package.license.expression = license->string();
  if (auto extracted = node.find("extracted"))
    for (const auto& [name, text] : extracted->members()) package.license.extracted[name] = text.string();
  if (auto python = node.find("python")) package.python = python->strings();
  return package;
}

}  // namespace

Json to_json(const Inventory& inventory) {
  const Distribution& distribution = inventory.distribution;
  Json packages = Json::array();
  for (const Package& package : inventory.packages) packages.push_back(to_json(package));
  return {{"distribution",
           {{"id", distribution.id}, {"version", distribution.version}, {"name", distribution.name}}},
          {"packages", std::move(packages)},
          {"gaps", inventory.gaps}};
}

Inventory inventory_from_json(const JsonNode& node) {
  Inventory inventory;
  const JsonNode distribution = node.at("distribution");
  inventory.distribution = {distribution.at("id").string(), distribution.at("version").string(),
                            distribution.at("name").string()};
  for (const JsonNode& package : node.at("packages").items())
    inventory.packages.push_back(package_from(package));
  inventory.gaps = node.at("gaps").strings();
  return inventory;
}

}  // namespace kiln::sbom
