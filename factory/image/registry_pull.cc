// Fetching base images: skopeo, because buildah would unpack what only has to be copied.
#include "image/buildah.h"
#include "image/skopeo.h"
#include "plan/image_reference.h"

namespace kiln {

void BuildahEngine::pull(const std::string& reference, const fs::path& layout, const fs::path& log) {
  std::string source = without_tag_beside_digest(reference);
  if (is_in_registry(source) && !source.starts_with("docker://")) source = "docker://" + source;
  Command command =
      skopeo_command({"copy", "--quiet", source, "oci:" + layout.string() + ":base"}, setup_.environment);
  command.log = log;
  CommandResult result = setup_.runner.run(command);
  if (!result.ok()) throw_registry_error("cannot pull " + reference, result);
}

}  // namespace kiln
