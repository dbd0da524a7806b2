// What the names of Dockerfiles and definition files say.
#include <set>

#include "factory/base/text.h"
#include "factory/import/legacy_names.h"
#include "factory/source/file_names.h"

namespace kiln {

FormName form_name_of(const std::string& path) {
  FormName form;
  form.stem = lower_case(last_part(path));
  form.docker = is_dockerfile_name(form.stem);
  bool definition = !form.docker && is_definition_name(form.stem);
  for (std::string_view ending : {".dockerfile", ".containerfile", ".def"})
    if (form.stem.ends_with(ending) && form.docker == (ending != ".def"))
      form.stem.resize(form.stem.size() - ending.size());
  for (std::string_view word : {"dockerfile", "containerfile", "singularity", "apptainer"}) {
    bool fits = word.ends_with("file") ? form.docker : definition;
    if (!fits || !begins_with(form.stem, word)) continue;
    form.stem.erase(0, word.size());
    form.bare = form.stem.find_first_not_of(".-_") == std::string::npos;
    const std::string place = place_of(path);
    form.stem = form.bare ? lower_case(last_part(place.substr(0, place.size() - (place.empty() ? 0 : 1))))
                          : form.stem.substr(1);
    break;
  }
  return form;
}

std::string stem_of(const std::string& path) { return form_name_of(path).stem; }

std::string place_of(const std::string& path) {
  static const std::set<std::string> kFormats = {"docker",    "dockerfiles", "dockerfile", "singularity",
                                                 "apptainer", "def",         "defs",       "definitions"};
  std::string place;
  for (const fs::path& part : fs::path(path).parent_path())
    if (!kFormats.contains(lower_case(part.string()))) place += part.string() + "/";
  return place;
}

std::string twin_key_of(const std::string& path) { return place_of(path) + stem_of(path); }

}  // namespace kiln
