// Secrets of recipes: files that the site has and a recipe names, handed to one script while it runs. They
// are in no key and in nothing that is kept.
#pragma once

#include <string>
#include <vector>

#include "factory/engine/engine.h"
#include "factory/site/site.h"

namespace kiln {

inline constexpr const char* kSecretsInside = "/run/kiln/secrets";

struct HandedSecrets {
  std::vector<Mount> mounts;        // below kSecretsInside
  std::vector<std::string> hidden;  // must not be shown in any log
};

// Makes the folder `folder`, which only we can enter, with each secret under its name: a link to the site's
// file, or a file with the value of the variable of `environment`. A script on the build host is given that
// folder, a container the mounts. Throws Error(input) for one that the site file does not have or that is not
// where it says.
HandedSecrets hand_in_secrets(const std::vector<std::string>& names, const Site& site,
                              const std::map<std::string, std::string>& environment, const fs::path& folder);

}  // namespace kiln
