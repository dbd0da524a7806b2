// Results tables of timm. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "factory/bench/external_table.h"

namespace kiln {

// A results table of inference of huggingface/pytorch-image-models (results/benchmark-infer-*.csv), whose
// name says how it was measured: benchmark-infer-fp32-nchw-pt240-cpu-i9_10940x-dynamo.csv. `said` has members
// of TableFacts by name, in place of what the name says. Throws Error(usage) for a fact that neither says,
// Error(input) with `file`, line and column of what cannot be such a table; docs/formats/files.md.
ExternalTable timm_table(std::string_view text, const std::string& file,
                         const std::map<std::string, std::string>& said);

}  // namespace kiln
