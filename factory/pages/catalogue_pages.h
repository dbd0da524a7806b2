// The catalogue as pages for people: one snapshot of the index → a path below / → bytes. Each page is made
// separately, when it is requested, so that a folder of all pages and a server of single pages have the same
// bytes. Pure, except for the reads of the source.
//
//   index.html, data.js         the catalogue, and its rows
//   packages.js                 what is installed in them
//   compare.html                two of them side by side
//   images/<repository>/<tag>.html, mappings/<code>.html
//   ask.html                    a question as a form
//   nights.html, nights/<matrix>/<number>.html
//   assets/                     style, scripts, icon
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "factory/base/effects.h"
#include "factory/pages/page_frame.h"
#include "factory/pages/page_source.h"
#include "factory/pages/speed_table.h"

namespace kiln {

struct Page {
  std::string media_type;  // "text/html; charset=utf-8"
  std::string bytes;
};

class CataloguePages {
 public:
  // REQUIRES: the source outlives this.
  CataloguePages(PageContent content, const PageSource& source);

  // Of all pages, sorted: "images/pytorch/2.6.0-distro-x86_64.html".
  std::vector<std::string> paths() const;
  // nullopt: there is no such page. "" is index.html. The caller need not be trusted.
  std::optional<Page> page(std::string_view path) const;
  // Whether it can be the path of a page of any index: known without one.
  static bool may_be_page(std::string_view path);
  const PageContent& content() const { return content_; }

 private:
  std::optional<Page> image_at(std::string_view path) const;
  std::optional<Page> night_at(std::string_view path) const;

  PageContent content_;
  const PageSource& source_;
  PageNames names_;
  std::unordered_map<std::string, std::size_t> images_;  // path → number in content_.entries
  SpeedTable speeds_;
};

// All pages as a folder of files, which is either complete or missing.

// Size of a written export.
struct WrittenPages {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

// Writes them into a private folder next to `folder`, and then exchanges the two in one step, which also
// removes an earlier export. Killed before that, the old one stays as it was, and the next one takes away
// what is left. Does not wait for the disk: it can be made again. Throws Error(usage) where `folder` is
// something else than an export, Error(store) where it cannot be written, Error(interrupted).
WrittenPages write_pages(const CataloguePages& pages, const std::filesystem::path& folder, FileSystem& files);

}  // namespace kiln
