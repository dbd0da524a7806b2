// The JSON Schemas (draft 2020-12) that `kiln schema recipe|matrix|target|site` prints, so that editors
// complete.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

const std::vector<std::string>& schema_names();
// Throws Error(usage) for an unknown name.
std::string schema_text(std::string_view name);

}  // namespace kiln
