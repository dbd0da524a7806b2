// The pages that lead to the others. Pure.
#pragma once

#include <string>

#include "factory/pages/page_frame.h"
#include "factory/pages/page_source.h"

namespace kiln {

std::string catalogue_page(const PageContent& content);  // index.html: its rows are in data.js
// compare.html: two images side by side, of the rows of data.js and packages.js.
std::string compare_page(const PageContent& content);
// images.html: links alone, for whoever has no scripts.
std::string all_images_page(const PageContent& content, const PageNames& names);
std::string ask_page(const PageContent& content);     // ask.html
std::string nights_page(const PageContent& content);  // nights.html

}  // namespace kiln
