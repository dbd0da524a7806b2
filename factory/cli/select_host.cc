#include "factory/cli/select_host.h"

#include <fmt/format.h>

#include "factory/base/reading.h"

namespace kiln {
namespace {

QuestionHost written_host(const std::string& option, const HostBook& book, const Invocation& invocation) {
  if (option == "-")
    return described_host(
        JsonDocument::parse(invocation.files.read("/dev/stdin", JsonLimits{}.bytes).value_or(""), "stdin"),
        book);
  if (invocation.files.exists(option)) return described_host(read_document(invocation.files, option), book);
  if (option.find('/') != std::string::npos || option.ends_with(".json")) invocation.need_file(option);
  try {
    return named_host(option, {"--host", 0, 0, ""}, book);
  } catch (const Error& error) {
    if (!error.hint().empty() || error.where().file != "--host") throw;
    throw Error(ExitCode::input, fmt::format("--host '{}' is no file and names no target", option),
                "a file that `kiln host` wrote, an archspec name, a target, here, or any");
  }
}

}  // namespace

QuestionHost choose_host(const std::string& option, const ImageQuery& query, Invocation& invocation) {
  const HostBook book{invocation.files, invocation.cpus()};
  if (option == "any" || option == "here") return named_host(option, {"--host", 0, 0, ""}, book);
  return option.empty() ? host_of_question(query, UnsaidHost::here, book)
                        : written_host(option, book, invocation);
}

}  // namespace kiln
