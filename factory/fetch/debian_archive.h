// Debian packages into a mirror: the signed lists of an archive's suites as they are, and of the packages
// those that built steps have. apt's own check of signatures and hashes therefore covers these files. The
// packages are found by apt itself, which knows what a version is and where it lies.
#pragma once

#include <string>
#include <vector>

#include "factory/fetch/apt_text.h"
#include "factory/fetch/image_apt.h"
#include "factory/mirror/mirror_folder.h"
#include "factory/run/step.h"

namespace kiln {

struct FoundPackages {
  std::vector<ListedPackage> found;
  std::vector<std::string> missing;  // which the lists do not have
};

class DebianArchive {
 public:
  // `site`: the folder that the base's `site` script made (site_of_base), which says in its apt.conf how this
  // machine reaches the archives of `base`, by its name; or that of an image (site_of_image). `folder`:
  // private, with `site` in it. Throws Error(input) where it does not say so.
  DebianArchive(const StepSetup& setup, const std::string& base, const fs::path& site,
                const MirrorFolder& mirror, const fs::path& folder);

  // Fetches what the archives list now; the items are the lists. Throws Error(network), Error(store).
  MirrorArchive fetch_lists(const std::string& name, const std::string& architecture,
                            std::vector<MirrorItem>& items);
  // Looks packages up in lists that the mirror has.
  FoundPackages find(const MirrorArchive& archive, const AptPackages& packages);
  // Fetches packages. Throws Error(network) for one that does not come, after the others did.
  void fetch(const MirrorArchive& archive, const std::vector<ListedPackage>& packages);

 private:
  CommandResult apt(std::vector<std::string> words, const fs::path& configuration, bool capture);
  void must(const CommandResult& result, const std::string& action) const;
  void configure_machine(const std::string& architecture);
  fs::path configure_mirror(const MirrorArchive& archive);
  std::string signed_bytes(const std::string& file, std::string& path, const std::string& signed_list);
  std::vector<std::pair<fs::path, std::string>> lists_of(const AptSource& source, std::string& signed_list);
  MirrorSuite keep_lists(const AptSource& source, std::vector<MirrorItem>& items);
  void keep_key(MirrorSuite& suite, std::vector<MirrorItem>& items);
  std::string uri_of(const MirrorArchive& archive, std::size_t suite) const;
  void fetch_some(const MirrorArchive& archive, const std::vector<const ListedPackage*>& packages);

  const StepSetup& setup_;
  const MirrorFolder& mirror_;
  fs::path folder_;
  std::string site_conf_;  // how this machine reaches packages
  std::vector<AptSource> sources_;
  fs::path machine_;  // apt.conf
};

// Writes a folder as a base's `site` script would, for an image's own archives, into `folder`, and returns
// it.
fs::path site_of_image(const std::vector<ImageSource>& sources, const fs::path& folder, FileSystem& files);

// apt's name for an OCI architecture.
std::string apt_architecture(const std::string& architecture);

}  // namespace kiln
