#include "factory/cli/print.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "factory/base/error.h"
#include "factory/base/json_text.h"
#include "factory/base/text.h"

namespace kiln {

void print_bytes(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return;
  if (errno == EPIPE) throw std::system_error(errno, std::generic_category());
  throw Error(ExitCode::store, fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

void print_text(std::string_view text) { print_bytes(without_controls(text)); }

void print_document(std::string_view json) { print_bytes(printable_dump(json)); }

void print_json(const Json& document, int indent) { print_bytes(printable_json(document, indent) + "\n"); }

void print_members(const Json& object) {
  std::string text = "{";
  for (const auto& [key, value] : object.items())
    text += fmt::format("{}\n  {}: {}", text.size() == 1 ? "" : ",", printable_json(key, -1),
                        printable_json(value, -1));
  print_bytes(text + (text.size() == 1 ? "}\n" : "\n}\n"));
}

void tell(std::string_view line) {
  const std::string text = without_controls(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace kiln
