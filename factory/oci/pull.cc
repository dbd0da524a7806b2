#include "factory/oci/pull.h"

#include "factory/oci/image_digest.h"
#include "factory/oci/reference.h"
#include "factory/oci/skopeo.h"

namespace kiln {
namespace {

// A copy on this machine has no limits: nobody is waited for.
Skopeo unlimited(Skopeo skopeo) {
  skopeo.limits = {std::chrono::seconds(0), std::chrono::seconds(0), 0};
  return skopeo;
}

// skopeo's options for whose image is taken out of an image index.
std::vector<std::string> for_architecture(const std::string& architecture) {
  if (architecture.empty()) return {};
  return {"--override-os", "linux", "--override-arch", architecture};
}

}  // namespace

void pull_base(const std::string& reference, const fs::path& layout, const fs::path& log,
               const Skopeo& skopeo, const std::string& architecture) {
  std::string source = without_tag_beside_digest(reference);
  const bool remote = is_in_registry(source);
  if (remote && !source.starts_with("docker://")) source = "docker://" + source;
  std::vector<std::string> words = for_architecture(architecture);
  words.insert(words.end(), {"copy", "--quiet", source, "oci:" + layout.string() + ":base"});
  const RegistryCall call{std::move(words), "cannot pull " + reference, reference, layout, log};
  CommandResult result = ask_registry(call, remote ? skopeo : unlimited(skopeo));
  if (!result.ok()) throw_registry_error(call.action, result);
}

ImageName pull_image(const ImageName& name, const std::string& architecture, const fs::path& folder,
                     const Skopeo& skopeo) {
  const fs::path layout = folder / "image";
  const std::string reference = "docker:" + name.path;
  auto fetch = [&](const std::string& source) {
    std::vector<std::string> words = for_architecture(architecture);
    words.insert(words.end(), {"copy", "--quiet", source, "oci:" + layout.string() + ":fetched"});
    return ask_registry({std::move(words), "cannot fetch " + reference, reference, layout}, skopeo);
  };
  CommandResult result = fetch(without_tag_beside_digest(reference));
  // skopeo takes an image without a variant only; by kiln's rule the lowest variant is taken then.
  if (!result.ok() && !architecture.empty() && result.tail.find("no image found in ") != std::string::npos)
    result = fetch("docker://" +
                   pinned_reference(reference, RegistryReader(skopeo).digest(reference, architecture)));
  if (!result.ok()) throw_registry_error("cannot fetch " + reference, result);
  return {"oci", layout.string(), "fetched"};
}

void pull_referrers(const ImageName& name, const Digest& image, const fs::path& folder,
                    const Skopeo& skopeo) {
  const std::string tag = "sha256-" + image.hex();
  const std::string source = "docker://" + repository_name("docker:" + name.path) + ":" + tag;
  const fs::path layout = folder / "image";
  ask_registry({{"copy", "--quiet", "--all", source, "oci:" + layout.string() + ":" + tag},
                "cannot fetch " + source,
                source,
                layout},
               skopeo);  // there is seldom such a tag
}

}  // namespace kiln
