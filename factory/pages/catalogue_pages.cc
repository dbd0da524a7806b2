#include "factory/pages/catalogue_pages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>

#include "factory/base/durable_file.h"
#include "factory/os/temporary_folder.h"
#include "factory/pages/page_frame.h"
#include "factory/pages/pages.h"

namespace kiln {

// Of factory/pages/assets, file name → bytes.
std::map<std::string_view, std::string_view> embedded_page_assets();

namespace {

constexpr std::string_view kAssets = "assets/";
constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kScript = "text/javascript; charset=utf-8";

// The pages of which there is one each.
constexpr std::array<std::string_view, 7> kLists = {"ask.html",   "compare.html", "data.js",    "images.html",
                                                    "index.html", "nights.html",  "packages.js"};

// The others are below these.
constexpr std::array<std::string_view, 4> kFolders = {kAssets, "images/", "mappings/", "nights/"};

std::string asset_type(std::string_view name) {
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return std::string(kScript);
}

std::optional<Page> asset_at(std::string_view path) {
  if (!path.starts_with(kAssets)) return std::nullopt;
  const auto assets = embedded_page_assets();
  const auto found = assets.find(path.substr(kAssets.size()));
  if (found == assets.end()) return std::nullopt;
  return Page{asset_type(path), std::string(found->second)};
}

Page html(std::string bytes) { return {std::string(kHtml), std::move(bytes)}; }

// Says that a folder is an export, and of which snapshot: whoever finds it there may replace the folder.
constexpr std::string_view kMarkFile = "kiln-catalogue.json";

std::string mark_text(const PageContent& content) {
  return fmt::format("{{\"format\": 1, \"images\": {}, \"snapshot\": {}}}\n", content.entries.size(),
                     content.snapshot);
}

[[noreturn]] void refuse(const fs::path& folder, const std::string& why) {
  throw Error(ExitCode::usage, fmt::format("{} {}", folder.string(), why),
              "name a new folder, an empty folder, or an earlier catalogue");
}

// Nobody's files are taken away: a folder is replaced if it is empty or holds an export and nothing beside
// it.
void check_place(const fs::path& folder, const CataloguePages& pages, const FileSystem& files) {
  std::error_code problem;
  const fs::file_status status = fs::status(folder, problem);
  if (status.type() == fs::file_type::not_found) return;
  if (problem) throw Error(ExitCode::store, fmt::format("{}: {}", folder.string(), problem.message()));
  if (!fs::is_directory(status)) refuse(folder, "is not a folder");
  const std::vector<std::string> names = files.list(folder);
  if (names.empty()) return;
  if (!files.exists(folder / kMarkFile)) refuse(folder, "contains files, and no catalogue that kiln wrote");
  std::set<std::string> own = {std::string(kMarkFile), "assets", "images", "mappings", "nights"};
  for (const std::string& path : pages.paths()) own.insert(path.substr(0, path.find('/')));
  for (const std::string& name : names)
    if (!own.contains(name))
      refuse(folder, fmt::format("contains '{}', which is not part of a catalogue", name));
}

// The private folder; gone with this object, with whatever is in it then.
class PrivateFolder {
 public:
  explicit PrivateFolder(const fs::path& beside)
      : made_(beside.parent_path(), "." + beside.filename().string() + ".new-") {}
  const fs::path& path() const { return made_.path(); }

  // As open as any folder that this user makes.
  void open_up() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::chmod(path().c_str(), 0777 & ~mask) != 0)
      fail_with_errno(errno, "cannot change the mode of", path());
  }

  // Afterwards what was at `folder` is in here, and goes with it.
  void put_at(const fs::path& folder) {
    if (::renameat2(AT_FDCWD, path().c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) return;
    // Not there yet; an empty folder is replaced as well. File systems that cannot exchange say EINVAL.
    if (errno != ENOENT && errno != EINVAL && errno != ENOSYS)
      fail_with_errno(errno, "cannot replace", folder);
    if (::rename(path().c_str(), folder.c_str()) == 0) return;
    if (errno != ENOTEMPTY && errno != EEXIST) fail_with_errno(errno, "cannot rename to", folder);
    const fs::path old = path().string() + ".old";
    if (::rename(folder.c_str(), old.c_str()) != 0 || ::rename(path().c_str(), folder.c_str()) != 0)
      fail_with_errno(errno, "cannot replace", folder);
    std::error_code ignored;
    fs::remove_all(old, ignored);
  }

 private:
  TemporaryFolder made_;
};

}  // namespace

CataloguePages::CataloguePages(PageContent content, const PageSource& source)
    : content_(std::move(content)), source_(source), names_(content_.entries), speeds_(content_.entries) {
  for (std::size_t number = 0; number < content_.entries.size(); ++number)
    images_.emplace(image_path(content_.entries[number].image), number);
}

std::vector<std::string> CataloguePages::paths() const {
  std::vector<std::string> paths(kLists.begin(), kLists.end());
  for (const auto& [name, bytes] : embedded_page_assets())
    paths.push_back(std::string(kAssets) + std::string(name));
  for (const auto& [path, number] : images_) paths.push_back(path);
  for (const NightRow& night : content_.nights) paths.push_back(night_path(night.matrix, night.number));
  std::ranges::sort(paths);
  return paths;
}

std::optional<Page> CataloguePages::image_at(std::string_view path) const {
  const auto found = images_.find(std::string(path));
  if (found == images_.end()) return std::nullopt;
  return html(image_page(found->second, content_, source_, names_, speeds_));
}

std::optional<Page> CataloguePages::night_at(std::string_view path) const {
  for (const NightRow& night : content_.nights) {
    if (night_path(night.matrix, night.number) != path) continue;
    auto report = source_.night(night.matrix, night.number);
    if (!report) return std::nullopt;
    return html(with_policy(*std::move(report), std::string(path)));
  }
  return std::nullopt;
}

bool CataloguePages::may_be_page(std::string_view path) {
  const auto is_below = [&](std::string_view folder) { return path.starts_with(folder); };
  return path.empty() || std::ranges::find(kLists, path) != kLists.end() ||
         std::ranges::any_of(kFolders, is_below);
}

std::optional<Page> CataloguePages::page(std::string_view path) const {
  if (path.empty() || path == "index.html") return html(catalogue_page(content_));
  if (path == "data.js") return Page{std::string(kScript), catalogue_data(content_, names_)};
  if (path == "packages.js") return Page{std::string(kScript), packages_data(content_, source_)};
  if (path == "compare.html") return html(compare_page(content_));
  if (path == "images.html") return html(all_images_page(content_, names_));
  if (path == "ask.html") return html(ask_page(content_));
  if (path == "nights.html") return html(nights_page(content_));
  if (auto asset = asset_at(path)) return asset;
  if (auto image = image_at(path)) return image;
  return night_at(path);
}

WrittenPages write_pages(const CataloguePages& pages, const fs::path& folder, FileSystem& files) {
  fs::path place = fs::weakly_canonical(fs::absolute(folder));
  if (place.filename().empty()) place = place.parent_path();
  if (place == place.root_path()) refuse(folder, "is the root of the file system");
  check_place(place, pages, files);
  files.make_directories(place.parent_path());
  PrivateFolder made(place);
  WrittenPages written;
  const auto write = [&](const std::string& path, const std::string& bytes) {
    files.write_output(made.path() / path, bytes);
    ++written.files;
    written.bytes += bytes.size();
  };
  for (const std::string& path : pages.paths()) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted; nothing was changed");
    if (const auto page = pages.page(path)) write(path, page->bytes);
  }
  write(std::string(kMarkFile), mark_text(pages.content()));
  made.open_up();
  made.put_at(place);
  return written;
}

}  // namespace kiln
