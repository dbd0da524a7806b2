// An environment definition file of CSCS' Container Engine, TOML: eth-cscs/cscs-docs@0bb69f37,
// docs/software/container-engine/edf.md. Sarus' successor and pyxis with `--environment` read it.
#include <fmt/format.h>

#include "factory/base/visible_text.h"
#include "registry/modules/module_quote.h"
#include "registry/modules/module_text.h"

namespace kiln {
namespace {

// "${NAME}" is expanded in every value, "$$" is a dollar.
std::string unexpanded(const std::string& value) {
  std::string text;
  for (const char c : value) text += c == '$' ? "$$" : std::string(1, c);
  return text;
}

// [REGISTRY#]IMAGE[:TAG]: the first part is a registry where it has a point or a colon, or is localhost.
std::string enroot_image(const std::string& reference) {
  const std::size_t slash = reference.find('/');
  if (slash == reference.npos) return reference;
  const std::string first = reference.substr(0, slash);
  if (first != "localhost" && first.find_first_of(".:") == first.npos) return reference;
  return first + "#" + reference.substr(slash + 1);
}

}  // namespace

std::string environment_definition_text(const ModuleImage& module, const ModuleTerms& terms) {
  std::string text = fmt::format("# Made by kiln module, for {}\n", on_one_line(module.image.name));
  text += fmt::format("image = {}\n", quote_toml(unexpanded(enroot_image(module.pinned))));
  if (terms.binds.empty()) return text;
  text += "mounts = [";
  const char* between = "";
  for (const std::string& path : terms.binds) {
    text += between + quote_toml(unexpanded(path + ":" + path));
    between = ", ";
  }
  return text + "]\n";
}

}  // namespace kiln
