#include "factory/oci/pull.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/text.h"
#include "factory/oci/documents.h"
#include "factory/oci/reference.h"

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
  if (!result.ok() && !architecture.empty() && contains(result.tail, "no image found in "))
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

namespace {

std::string text_at(const JsonNode& node, const char* key) {
  auto found = node.find(key);
  return found && found->is_string() ? found->string() : "";
}

[[noreturn]] void refuse_platform(const std::string& reference, const std::string& architecture,
                                  const std::set<std::string>& others) {
  throw Error(ExitCode::input, fmt::format("{} has no image for {}", reference, architecture),
              others.empty() ? "" : fmt::format("it is for {}", fmt::join(others, ", ")));
}

// Entries that are no image (attestations, signatures) say that they are for "unknown".
Digest choose(const JsonNode& index, const std::string& reference, const std::string& architecture) {
  std::map<unsigned, Digest> by_variant;  // in the order of their ranks
  std::set<std::string> others;
  for (const JsonNode& manifest : index.at("manifests").items()) {
    auto platform = manifest.find("platform");
    if (!platform || !platform->is_object() || text_at(*platform, "os") != "linux") continue;
    others.insert(text_at(*platform, "architecture"));
    if (text_at(*platform, "architecture") != architecture) continue;
    Digest digest = Digest::parse(manifest.at("digest").string());
    by_variant.try_emplace(variant_rank(text_at(*platform, "variant")), digest);
  }
  if (by_variant.empty()) refuse_platform(reference, architecture, others);
  return by_variant.begin()->second;
}

}  // namespace

std::string RegistryReader::inspect(const std::string& reference, const std::string& what) {
  std::string source = without_tag_beside_digest(reference);
  if (!source.starts_with("docker://")) source = "docker://" + source;
  std::vector<std::string> arguments = {"inspect", "--raw"};
  if (what == "configuration") arguments.emplace_back("--config");
  arguments.push_back(source);
  const RegistryCall call{arguments, fmt::format("cannot ask for the {} of {}", what, reference), reference};
  CommandResult result = ask_registry(call, skopeo_);
  if (!result.ok()) throw_registry_error(call.action, result);
  return std::move(result.output);
}

// A single manifest does not say what it is for; its configuration does.
void RegistryReader::check_platform(const std::string& reference, const Digest& digest,
                                    const std::string& architecture) {
  std::string bytes = inspect(pinned_reference(reference, digest), "configuration");
  JsonDocument config = JsonDocument::parse(bytes, "configuration of " + reference);
  std::string own = text_at(config.root(), "architecture");
  if (own != architecture) refuse_platform(reference, architecture, {own});
}

Digest RegistryReader::digest(const std::string& reference, const std::string& architecture) {
  auto found = manifests_.find(reference);
  if (found == manifests_.end()) found = manifests_.emplace(reference, inspect(reference, "manifest")).first;
  const std::string& bytes = found->second;
  JsonDocument manifest = JsonDocument::parse(bytes, "manifest of " + reference);
  if (manifest.root().find("manifests")) return choose(manifest.root(), reference, architecture);
  manifest_from_json(manifest.root());
  Digest digest = Digest::of(bytes);
  check_platform(reference, digest, architecture);
  return digest;
}

}  // namespace kiln
