// Fetching base images: skopeo, because buildah would unpack what only has to be copied.
#include <fmt/format.h>

#include "image/buildah.h"

namespace kiln {
namespace {

bool has_transport(const std::string& reference) {
  for (const char* transport : {"docker://", "oci:", "oci-archive:", "docker-archive:", "dir:"})
    if (reference.starts_with(transport)) return true;
  return false;
}

// skopeo refuses a reference with both a tag and a digest; the digest decides.
std::string without_tag_beside_digest(std::string reference) {
  std::size_t at = reference.find('@');
  if (at == std::string::npos) return reference;
  std::size_t colon = reference.rfind(':', at);
  std::size_t slash = reference.rfind('/', at);
  if (colon != std::string::npos && slash != std::string::npos && colon > slash)
    reference.erase(colon, at - colon);
  return reference;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

bool contains_any(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (text.find(word) != std::string::npos) return true;
  return false;
}

[[noreturn]] void fail(const std::string& reference, const CommandResult& result) {
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  std::string what = fmt::format("cannot pull {}: {}", reference, last_line(result.tail));
  if (contains_any(result.tail,
                   {"manifest unknown", "name unknown", "no such file or directory", "not found in"}))
    throw Error(ExitCode::input, what, "check the image reference of the base recipe");
  if (contains_any(result.tail, {"unauthorized", "authentication required", "denied", "rejected by policy"}))
    throw Error(ExitCode::network, what, "log in with `skopeo login`, or see /etc/containers/policy.json");
  throw Error(ExitCode::network, what);
}

}  // namespace

void BuildahEngine::pull(const std::string& reference, const fs::path& layout, const fs::path& log) {
  std::string source =
      without_tag_beside_digest(has_transport(reference) ? reference : "docker://" + reference);
  Command command;
  command.argv = {"skopeo", "copy", "--quiet", source, "oci:" + layout.string() + ":base"};
  command.environment = setup_.environment;
  command.log = log;
  CommandResult result = setup_.runner.run(command);
  if (!result.ok()) fail(reference, result);
}

}  // namespace kiln
