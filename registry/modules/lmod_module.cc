// A modulefile of Lmod, in Lua. Functions: Lmod 8.6, docs/source/050_lua_modulefiles.rst.
#include <fmt/format.h>

#include "factory/base/visible_text.h"
#include "registry/modules/module_quote.h"
#include "registry/modules/module_text.h"

namespace kiln {

std::string lmod_text(const ModuleImage& module) {
  std::string help;
  for (const std::string& line : module_help(module)) help += line + "\n";
  std::string text = fmt::format("-- Made by kiln module, for {}\n", on_one_line(module.image.name));
  text += fmt::format("help({})\n", quote_lua(help));
  text += fmt::format("whatis({})\n", quote_lua("Name: " + module.name));
  text += fmt::format("whatis({})\n", quote_lua("Version: " + module.version));
  text += fmt::format("whatis({})\n", quote_lua("Description: " + module.title));
  if (!module.homepage.empty()) text += fmt::format("whatis({})\n", quote_lua("URL: " + module.homepage));
  text += "local root = myFileName():match(\"^(.*)/lmod/[^/]+/[^/]+$\")\n";
  text += "if root == nil then\n";
  text += "  LmodError(\"this file finds its programs only in the folder that kiln module wrote\")\n";
  text += "end\n";
  text += fmt::format("prepend_path(\"PATH\", root .. {})\n",
                      quote_lua(fmt::format("/bin/{}/{}", module.name, module.version)));
  return text + fmt::format("setenv(\"KILN_MODULE_IMAGE\", {})\n", quote_lua(image_place(module)));
}

}  // namespace kiln
