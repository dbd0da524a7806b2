// GitHub Actions' matrix, with constraints.
#include "plan/expand.h"

#include "plan/cells.h"
#include "plan/glob.h"

namespace kiln {

Expansion expand(const Matrix& matrix, const RecipeBook& recipes) {
  Cells cells(matrix, recipes);
  Expansion expansion;
  for (std::size_t index = 0; index < cells.size(); ++index)
    expansion.requests.push_back(cells.request(index));
  for (std::size_t index = 0; index < cells.excluded(); ++index)
    expansion.excluded.push_back(cells.excluded(index));
  expansion.warnings = cells.warnings();
  return expansion;
}

bool matches_pattern(const ImageRequest& request, const std::string& pattern) {
  auto equals = pattern.find('=');
  if (equals == std::string::npos) return glob_matches(pattern, request.id);
  auto axis = request.axes.find(pattern.substr(0, equals));
  std::string value = axis == request.axes.end() ? "none" : axis->second;
  return glob_matches(pattern.substr(equals + 1), value);
}

}  // namespace kiln
