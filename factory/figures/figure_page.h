// All panels as one page: HTML with its style and its pictures inside. No scripts, nothing is fetched. Pure.
#pragma once

#include <span>
#include <string>

#include "factory/figures/panel.h"

namespace kiln {

std::string figure_page(std::span<const Panel> panels);

}  // namespace kiln
