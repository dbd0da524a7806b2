#include "cli/select_host.h"

#include <fmt/format.h>

#include <optional>

#include "base/reading.h"
#include "registry/asked_host.h"
#include "registry/host.h"

namespace kiln {
namespace {

Host known(HostDescription description) { return {std::move(description), true}; }

Host host_of(const Target& target) {
  HostDescription host;
  host.cpu = target.cpu;
  host.accelerators = target.accelerators;
  return known(std::move(host));
}

// Targets that are named here, else archspec's and compositions of them.
Host named_host(const std::string& name, const SourceLocation& where, Invocation& invocation) {
  const TargetBook targets = TargetBook::read(invocation.files, "matrix/targets", invocation.cpus());
  return host_of(targets.get(name, where));
}

Host written_host(const std::string& option, Invocation& invocation) {
  if (option == "-" || invocation.files.exists(option)) {
    const JsonDocument document =
        option == "-" ? JsonDocument::parse(
                            invocation.files.read("/dev/stdin", JsonLimits{}.bytes).value_or(""), "stdin")
                      : read_document(invocation.files, option);
    return known(read_host(document.root(), invocation.cpus()));
  }
  if (option.find('/') != std::string::npos || option.ends_with(".json")) invocation.need_file(option);
  try {
    return named_host(option, {"--host", 0, 0, ""}, invocation);
  } catch (const Error& error) {
    if (!error.hint().empty() || error.where().file != "--host") throw;
    throw Error(ExitCode::input, fmt::format("--host '{}' is no file and names no target", option),
                "a file that `kiln host` wrote, an archspec name, a target, here, or any");
  }
}

// nullopt: it is a site's name for machines that nobody described here. What is wrong in a description, or in
// a composition (zen4,nvidia:sm_90), is an error.
std::optional<Host> host_of_target(const JsonNode& target, Invocation& invocation) {
  const std::string name = target.string();
  try {
    return named_host(name, target.where(), invocation);
  } catch (const Error& error) {
    if (error.where() != target.where() || name.find(',') != std::string::npos) throw;
    return std::nullopt;
  }
}

// `why`: the document's own host is not known; "" when it names none.
QuestionHost this_machine(const std::string& why, const ImageQuery& query, Invocation& invocation) {
  Host here = known(detect_host(invocation.files, invocation.cpus()));
  const std::string without = what_it_lacks(here.description, query, invocation.cpus());
  if (without.empty()) return {std::move(here), true, why.empty() ? "" : why + ": this machine is the host"};
  return {
      {},
      false,
      fmt::format("{}this machine {}: no host is taken into account; --host names one, --host here insists",
                  why.empty() ? "" : why + ", and ", without)};
}

}  // namespace

QuestionHost choose_host(const std::string& option, const ImageQuery& query, Invocation& invocation) {
  if (option == "any") return {};
  if (option == "here") return {known(detect_host(invocation.files, invocation.cpus()))};
  if (!option.empty()) return {written_host(option, invocation)};
  if (query.host) return {known(read_host(*query.host, invocation.cpus()))};
  if (!query.target) return this_machine("", query, invocation);
  if (auto host = host_of_target(*query.target, invocation)) return {*std::move(host)};
  return this_machine(fmt::format("the document is for target '{}', which matrix/targets does not have",
                                  query.target->string()),
                      query, invocation);
}

}  // namespace kiln
