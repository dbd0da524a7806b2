#include "factory/pages/catalogue_pages.h"

#include <algorithm>
#include <array>
#include <map>

#include "factory/pages/catalogue_data.h"
#include "factory/pages/image_page.h"
#include "factory/pages/list_pages.h"
#include "factory/pages/page_frame.h"

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
  std::sort(paths.begin(), paths.end());
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
  return path.empty() || std::find(kLists.begin(), kLists.end(), path) != kLists.end() ||
         std::any_of(kFolders.begin(), kFolders.end(), is_below);
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

}  // namespace kiln
