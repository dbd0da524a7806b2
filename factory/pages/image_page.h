// The page of one image. Pure, but for what the source reads.
#pragma once

#include <string>

#include "factory/pages/page_frame.h"
#include "factory/pages/page_source.h"
#include "factory/pages/speed_table.h"

namespace kiln {

// All of it, as HTML. `speeds` as of the content's entries.
std::string image_page(std::size_t number, const PageContent& content, const PageSource& source,
                       const PageNames& names, const SpeedTable& speeds);

}  // namespace kiln
