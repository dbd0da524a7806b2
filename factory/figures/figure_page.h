// All panels as one page: HTML with its style and its pictures inside. No scripts, nothing is fetched. Pure.
#pragma once

#include <array>
#include <span>
#include <string>

#include "factory/base/json.h"
#include "factory/figures/panel.h"

namespace kiln {

// The numbers of panels as tables and as JSON. Pure and byte-stable.

// The text of a bar's row in the table; "" for unknown values. The first cell is its name.
using TableRow = std::array<std::string, 10>;
TableRow table_head(const Panel& panel);
TableRow table_row(const Panel& panel, const PanelGroup& group, const PanelBar& bar);

// A heading, what was measured where and when, and a table, for each panel.
std::string panels_markdown(std::span<const Panel> panels);
// The table of one panel alone.
std::string panel_markdown(const Panel& panel);
// A row for each bar of each panel, numbers in full (RFC 4180, with a head).
std::string panels_csv(std::span<const Panel> panels);
// The sets themselves: each image's median and interval, and how those of one framework compare, each
// with each that follows it.
Json sets_json(std::span<const MeasuredSet> sets);

std::string figure_page(std::span<const Panel> panels);

}  // namespace kiln
