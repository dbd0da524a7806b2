// Images as modules, for the tests of registry/modules.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "registry/modules/module_files.h"

namespace kiln::testing {

inline ModuleImage published_module() {
  ModuleImage module;
  module.name = "pytorch";
  module.version = "2.6.0-distro-zen3-trixie";
  module.title = "pytorch 2.6.0 (distro)";
  module.description = "Tensors and networks";
  module.homepage = "https://pytorch.org";
  module.image = {"pytorch:2.6.0-distro-zen3-trixie",
                  "docker://r.site:5000/ai/pytorch:2.6.0-distro-zen3-trixie",
                  "/srv/kiln/sif/pytorch_2.6.0-distro-zen3-trixie.sif", "", ""};
  module.pinned = "r.site:5000/ai/pytorch:2.6.0-distro-zen3-trixie-0123456789ab";
  module.digest = "sha256:" + std::string(64, 'a');
  module.python_module = "torch";
  module.framework_version = "2.6.0";
  module.programs = {{"python3", "python3"}, {"python", "python3"}};
  return module;
}

inline std::string file_of(const ModuleFiles& made, const std::string& path) {
  for (const ModuleFile& file : made.files)
    if (file.path == path) return file.bytes;
  ADD_FAILURE() << "no file " << path;
  return "";
}

inline bool has_text(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace kiln::testing
