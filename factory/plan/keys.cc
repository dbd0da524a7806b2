#include "plan/keys.h"

namespace kiln {

const KeyTable& key_table() {
  static const std::vector<std::string> kAxes = {"framework", "version", "method",   "base",
                                                 "toolchain", "library", "compiler", "distributed",
                                                 "workload",  "target"};
  static const KeyTable kTable = {
      {"recipe", {"description", "licenses", "homepage", "versions", "methods", "test"}},
      {"recipe/version", {"facts", "source"}},
      {"recipe/source", {"url", "checksum"}},
      {"recipe/method",
       {"optimised", "versions", "script", "files", "parameters", "needs", "after", "build", "environment"}},
      {"recipe/base_method",
       {"optimised", "versions", "image", "rootfs", "script", "files", "parameters", "environment"}},
      {"recipe/build", {"needs", "script", "copy"}},
      {"recipe/need", {"kind", "name", "version"}},
      {"recipe/test", {"script", "files"}},
      {"matrix", {"name", "includes", "axes", "groups", "exclude", "include", "constraints"}},
      {"matrix/group", {"name", "axes", "exclude", "include"}},
      {"matrix/axes", kAxes},
      {"matrix/cell", kAxes},
      {"matrix/constraint", {"if", "require", "forbid", "reason"}},
      {"target", {"cpu", "accelerators", "description"}},
      {"site",
       {"engine", "launcher", "jobs", "zstd_level", "limits", "pass_environment", "ca_certificates",
        "pip_configuration"}},
      {"site/limits", {"wall", "silence", "log"}},
  };
  return kTable;
}

const std::vector<std::string>& keys_of(std::string_view object) { return key_table().find(object)->second; }

}  // namespace kiln
