// The rows of the catalogue for its script: data.js. Pure.
#pragma once

#include <string>

#include "factory/pages/page_names.h"
#include "factory/pages/page_source.h"

namespace kiln {

// `window.kilnCatalogue = {…};`, ASCII where the names are: rows as arrays, words as numbers into a list.
// What stands where is named in assets/catalogue.js.
std::string catalogue_data(const PageContent& content, const PageNames& names);

}  // namespace kiln
