#include "lint/unit.h"

namespace kiln::lint {

bool in_recipe(Place place) {
  return place == Place::recipe || place == Place::build || place == Place::test || place == Place::host;
}

bool stays(Place place) { return place == Place::recipe || place == Place::run || place == Place::post; }

}  // namespace kiln::lint
