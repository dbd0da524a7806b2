// All pages as a folder of files, which is there whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>

#include "factory/base/effects.h"
#include "factory/pages/catalogue_pages.h"

namespace kiln {

// What was written.
struct WrittenPages {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

// Writes them into a private folder beside `folder` and puts it in its place in one step; an export that was
// there goes. Killed before that, the old one stays as it was, and the next one takes away what is left. Does
// not wait for the disk: it can be made again. Throws Error(usage) where `folder` is something else than an
// export, Error(store) where it cannot be written, Error(interrupted).
WrittenPages write_pages(const CataloguePages& pages, const std::filesystem::path& folder, FileSystem& files);

}  // namespace kiln
