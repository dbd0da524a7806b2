#include "factory/sbom/words.h"

namespace kiln::sbom {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

bool is_url(const std::string& text) {
  return text.find("://") != text.npos && text.find_first_of(" \t\"<>\\^`{|}") == text.npos;
}

}  // namespace kiln::sbom
