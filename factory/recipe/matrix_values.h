// The values of a matrix: what stands on an axis, in a partial cell, and in a condition.
#pragma once

#include <string>

#include "factory/base/json.h"
#include "factory/recipe/matrix.h"

namespace kiln {

// One value of the axis `name`, checked by the axis' grammar. Throws Error(input).
std::string read_axis_value(const std::string& name, const JsonNode& node);

enum class PartialUse {
  include,    // axis values
  exclude,    // version ranges and globs; `reason` beside them is passed over
  condition,  // version ranges and globs; keys may also be facts, such as framework.python
};

// A map of axis names to values, not empty.
AxisValues read_partial(const JsonNode& node, PartialUse use);

}  // namespace kiln
