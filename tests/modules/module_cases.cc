// Literals of module files, for the readers of tests/oracle/modules: a line of hex digits on stdin is a text,
// and the line on stdout is its literal. The argument is the language.
#include <iostream>
#include <map>

#include "registry/modules/module_files.h"

namespace {

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  return bytes;
}

}  // namespace

int main(int count, char** words) {
  const std::map<std::string, std::string (*)(std::string_view)> languages = {{"lua", kiln::quote_lua},
                                                                              {"tcl", kiln::quote_tcl},
                                                                              {"yaml", kiln::quote_yaml},
                                                                              {"toml", kiln::quote_toml},
                                                                              {"python", kiln::quote_python}};
  const auto quote = languages.find(count == 2 ? words[1] : "");
  if (quote == languages.end()) return 2;
  for (std::string line; std::getline(std::cin, line);) std::cout << quote->second(bytes_of(line)) << "\n";
  return 0;
}
