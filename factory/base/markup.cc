#include "factory/base/markup.h"

#include "factory/base/text.h"

namespace kiln {

std::string markup_text(std::string_view text) {
  std::string markup;
  for (char c : without_controls(text)) {
    switch (c) {
      case '&':
        markup += "&amp;";
        break;
      case '<':
        markup += "&lt;";
        break;
      case '>':
        markup += "&gt;";
        break;
      case '"':
        markup += "&quot;";
        break;
      case '\'':
        markup += "&#39;";
        break;
      default:
        markup += c;
    }
  }
  return markup;
}

}  // namespace kiln
