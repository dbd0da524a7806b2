#include "oci/pull.h"

#include "oci/reference.h"
#include "oci/skopeo.h"

namespace kiln {

void pull_base(const std::string& reference, const fs::path& layout, const fs::path& log,
               const Skopeo& skopeo) {
  std::string source = without_tag_beside_digest(reference);
  if (is_in_registry(source) && !source.starts_with("docker://")) source = "docker://" + source;
  Command command =
      skopeo_command({"copy", "--quiet", source, "oci:" + layout.string() + ":base"}, skopeo.environment);
  command.log = log;
  CommandResult result = skopeo.runner.run(command);
  if (!result.ok()) throw_registry_error("cannot pull " + reference, result);
}

ImageName pull_image(const ImageName& name, const std::string& architecture, const fs::path& folder,
                     const Skopeo& skopeo) {
  Command command = skopeo_command(
      {"--override-os", "linux", "--override-arch", architecture, "copy", "--quiet",
       without_tag_beside_digest("docker:" + name.path), "oci:" + (folder / "image").string() + ":fetched"},
      skopeo.environment);
  CommandResult result = skopeo.runner.run(command);
  if (!result.ok()) throw_registry_error("cannot fetch docker:" + name.path, result);
  return {"oci", (folder / "image").string(), "fetched"};
}

void pull_referrers(const ImageName& name, const Digest& image, const fs::path& folder,
                    const Skopeo& skopeo) {
  std::string tag = "sha256-" + image.hex();
  Command command = skopeo_command(
      {"copy", "--quiet", "--all", "docker://" + repository_name("docker:" + name.path) + ":" + tag,
       "oci:" + (folder / "image").string() + ":" + tag},
      skopeo.environment);
  skopeo.runner.run(command);  // there is seldom such a tag
}

}  // namespace kiln
