// A modulefile of Environment Modules, in Tcl. Commands: modulefile(5) of Modules 5.2; Lmod reads them, too.
#include <fmt/format.h>

#include "factory/base/visible_text.h"
#include "registry/modules/module_quote.h"
#include "registry/modules/module_text.h"

namespace kiln {

std::string tcl_text(const ModuleImage& module) {
  std::string text = "#%Module1.0\n";
  // Tcl ends a comment not at a line's end after a backslash, and counts the braces in it.
  text += "# Made by kiln module.\n";
  text += "proc ModulesHelp { } {\n";
  for (const std::string& line : module_help(module))
    text += fmt::format("    puts stderr {}\n", quote_tcl(line));
  text += "}\n";
  text += fmt::format("module-whatis {}\n", quote_tcl("Name: " + module.name));
  text += fmt::format("module-whatis {}\n", quote_tcl("Version: " + module.version));
  text += fmt::format("module-whatis {}\n", quote_tcl("Description: " + module.title));
  if (!module.homepage.empty())
    text += fmt::format("module-whatis {}\n", quote_tcl("URL: " + module.homepage));
  text += fmt::format("conflict {}\n", quote_tcl(module.name));
  text += "set root [file dirname [file dirname [file dirname $ModulesCurrentModulefile]]]\n";
  text += fmt::format("prepend-path PATH [file join $root bin {} {}]\n", quote_tcl(module.name),
                      quote_tcl(module.version));
  return text + fmt::format("setenv KILN_MODULE_IMAGE {}\n", quote_tcl(image_place(module)));
}

}  // namespace kiln
