#include "factory/lint/unit.h"

namespace kiln::lint {

bool in_recipe(ScriptPlace place) {
  return place == ScriptPlace::recipe || place == ScriptPlace::build || place == ScriptPlace::test ||
         place == ScriptPlace::host;
}

bool stays(ScriptPlace place) {
  return place == ScriptPlace::recipe || place == ScriptPlace::run || place == ScriptPlace::post;
}

}  // namespace kiln::lint
