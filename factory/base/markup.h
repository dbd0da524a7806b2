// Text inside markup: the one place that knows which characters HTML and SVG would take for their own.
#pragma once

#include <string>
#include <string_view>

namespace kiln {

// Text as it stands in HTML, in SVG and in the attributes of both, without controls.
std::string markup_text(std::string_view text);

}  // namespace kiln
