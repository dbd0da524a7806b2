// The replacement for a network in steps: the folder that `kiln mirror` filled, mounted read-only, and the
// settings that point apt, pip, git and the scripts of recipes to it. Nothing of it is in a layer.
#pragma once

#include <string>

#include "factory/mirror/mirror.h"
#include "factory/run/step.h"

namespace kiln {

// The files that apt, pip and git read. `root`: where they find the mirror.
struct OfflineWords {
  std::string apt;      // apt.conf(5)
  std::string sources;  // deb822, named by `apt`
  std::string pip;      // pip.conf
  std::string git;      // gitconfig
};
// `archive`: null if the mirror has none for the base; apt then gets no settings. `folder`: where the files
// will be found.
OfflineWords offline_words(const Mirror& mirror, const MirrorArchive* archive, const std::string& root,
                           const std::string& folder);

// A folder as the URI of a source, which ends at a blank: bytes that are not plain are percent-encoded.
// copy: and not file:, of which mmdebstrap's dpkg would look for the packages inside the new root.
std::string copy_uri(const std::string& folder);

// The archive of packages of a base; null without one.
const MirrorArchive* archive_of(const Mirror& mirror, const Step& base);

// For a script in a container on top of `base`. Writes into `folder`, which is private. Throws Error(input)
// for a damaged manifest, Error(usage) where there is no mirror.
SiteHandover offline_handover(const StepSetup& setup, const std::optional<Step>& base,
                              const fs::path& folder);
// The environment of the same on the build host.
std::map<std::string, std::string> offline_environment(const StepSetup& setup, const Step& base,
                                                       const fs::path& folder);

// Sets the source's URL to its file in the mirror. Where `files`, the recipe's own, restrict curl to other
// protocols than file:, kiln's curl comes first in PATH, which lets it read the mirror. Throws Error(network)
// when the mirror has no such file.
void lead_to_source(ContainerRun& request, const Step& step, const StepSetup& setup, const fs::path& files);

// Where a script in a container finds the source of its parameters: the URL itself, unless it is a file with
// a checksum. Throws Error(network) when the mirror has no such file.
std::string offline_source(const StepSetup& setup, const std::map<std::string, std::string>& parameters);

// The layout in the mirror that replaces this step's pull, in the form that engines pull: reads all of it.
// Throws Error(network), Error(store) for a damaged one.
std::string offline_image(const StepSetup& setup, const Step& pull);

}  // namespace kiln
