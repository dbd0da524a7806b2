// The pages that lead to the others. Pure.
#pragma once

#include <string>

#include "factory/pages/page_names.h"
#include "factory/pages/page_source.h"

namespace kiln {

std::string catalogue_page(const PageContent& content);  // index.html: its rows are in data.js
// images.html: links alone, for whoever has no scripts.
std::string all_images_page(const PageContent& content, const PageNames& names);
std::string ask_page(const PageContent& content);     // ask.html
std::string nights_page(const PageContent& content);  // nights.html

}  // namespace kiln
