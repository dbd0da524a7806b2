// Expanding a matrix over the recipes of the demo, for the tests of expansion.
#pragma once

#include <string>
#include <vector>

#include "factory/expand/expand.h"
#include "support/plan_fixture.h"
#include "support/plan_values.h"

namespace kiln::testing {

class ExpandTest : public ::testing::Test {
 protected:
  using Ids = std::vector<std::string>;

  Expansion run(const Matrix& matrix) const { return expand(matrix, recipes_); }
  Ids ids(const Matrix& matrix) const {
    Ids ids;
    for (const ImageRequest& request : requests_of(run(matrix))) ids.push_back(request.id);
    return ids;
  }
  RecipeBook recipes_ = testing::book(testing::demo_recipes());
};

inline Constraint constraint(AxisValues when, AxisValues require, AxisValues forbid = {}) {
  return {std::move(when), std::move(require), std::move(forbid), "it does not work",
          at("matrix/demo.json", 20, "/constraints/0")};
}

}  // namespace kiln::testing
