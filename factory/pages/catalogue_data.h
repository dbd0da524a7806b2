// The rows of the catalogue for its script: data.js. Pure.
#pragma once

#include <string>

#include "factory/pages/page_frame.h"
#include "factory/pages/page_source.h"

namespace kiln {

// `window.kilnCatalogue = {…};`, ASCII where the names are: rows as arrays, words as numbers into a list.
// What stands where is named in assets/catalogue.js.
std::string catalogue_data(const PageContent& content, const PageNames& names);

// `window.kilnPackages = {…};`: what the bills of materials list, "name version", for each row of data.js the
// number of a set of such words, -1 where there is no bill. Reads the bill of every image: packages.js is
// loaded when a reader looks for a package.
std::string packages_data(const PageContent& content, const PageSource& source);

}  // namespace kiln
