#include "registry/answer/question_host.h"

#include <fmt/format.h>

#include <optional>

#include "factory/base/text.h"
#include "factory/recipe/target.h"
#include "factory/record/gpu_code.h"
#include "factory/record/host_description.h"
#include "registry/select/query_clauses.h"

namespace kiln {
namespace {

Host known(HostDescription description) { return {std::move(description), true}; }

// Vendors that may stand alone in a name: another word there is a misspelt one.
bool names_accelerator(std::string_view text) {
  const std::string vendor = split_accelerator(text).first;
  return is_host_accelerator(text) &&
         (vendor == "nvidia" || vendor == "amd" || vendor == "intel" || vendor == "fpga");
}

// A target, and after commas the accelerators that a description may have as well.
Host host_of_target(const std::string& name, const SourceLocation& where, const HostBook& book) {
  const std::vector<std::string_view> parts = split(name, ',');
  const Target target =
      TargetBook::read(book.files, book.targets, book.cpus).get(parts.empty() ? "" : parts.front(), where);
  HostDescription host;
  host.cpu = target.cpu;
  host.accelerators = target.accelerators;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!names_accelerator(parts[i]))
      throw Error(ExitCode::input, where, fmt::format("expected an accelerator, found '{}'", parts[i]),
                  "such as nvidia:sm_80, amd:gfx90a, or nvidia where the GPU is not known");
    host.accelerators.emplace_back(parts[i]);
  }
  return known(std::move(host));
}

// nullopt: it is a site's name for machines that nobody described here. What is wrong in a description, or in
// a composition (zen4,nvidia:sm_90), is an error.
std::optional<Host> host_of_site_name(const JsonNode& target, const HostBook& book) {
  const std::string name = target.string();
  try {
    return host_of_target(name, target.where(), book);
  } catch (const Error& error) {
    if (error.where() != target.where() || contains(name, ',')) throw;
    return std::nullopt;
  }
}

// `why`: the document's own host is not known; "" when it names none.
QuestionHost unsaid_host(const std::string& why, const ImageQuery& query, UnsaidHost unsaid,
                         const HostBook& book) {
  if (unsaid == UnsaidHost::any)
    return {{}, false, why.empty() ? "" : why + ": no host is taken into account"};
  Host here = known(detect_host(book.files, book.cpus));
  const std::string without = what_it_lacks(here.description, query, book.cpus);
  if (without.empty()) return {std::move(here), true, why.empty() ? "" : why + ": this machine is the host"};
  return {
      {},
      false,
      fmt::format("{}this machine {}: no host is taken into account; --host names one, --host here insists",
                  why.empty() ? "" : why + ", and ", without)};
}

}  // namespace

QuestionHost described_host(const JsonDocument& document, const HostBook& book) {
  return {known(read_host(document.root(), book.cpus))};
}

QuestionHost named_host(const std::string& name, const SourceLocation& where, const HostBook& book) {
  if (name == "any") return {};
  if (name == "here") return {known(detect_host(book.files, book.cpus))};
  return {host_of_target(name, where, book)};
}

QuestionHost host_of_question(const ImageQuery& query, UnsaidHost unsaid, const HostBook& book) {
  if (query.host) return {known(read_host(*query.host, book.cpus))};
  if (!query.target) return unsaid_host("", query, unsaid, book);
  if (auto host = host_of_site_name(*query.target, book)) return {*std::move(host)};
  return unsaid_host(fmt::format("the document is for target '{}', which matrix/targets does not have",
                                 query.target->string()),
                     query, unsaid, book);
}

}  // namespace kiln
