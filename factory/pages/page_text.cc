#include "factory/pages/page_text.h"

#include <fmt/format.h>

#include "factory/base/json_text.h"
#include "factory/base/quote.h"
#include "factory/base/text.h"

namespace kiln {

std::string page_text(std::string_view text) { return markup_text(text); }

std::string script_text(std::string_view text) {
  std::string json;
  append_json(json, without_controls(text));
  std::string script;
  script.reserve(json.size());
  for (char c : json) {
    if (c == '<' || c == '>' || c == '&')
      script += fmt::format("\\u{:04x}", c);
    else
      script += c;
  }
  return script;
}

}  // namespace kiln
