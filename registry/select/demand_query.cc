#include "registry/select/demand_query.h"

#include <algorithm>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "registry/select/dsl_words.h"

namespace kiln {
namespace {

bool is_one_of(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename Words>
bool is_word_of(const Words& words, std::string_view text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// "tensorflow 2.1" → application and version.
void read_head(std::string_view head, ImageQuery& query) {
  const std::size_t blank = head.find(' ');
  query.application = head.substr(0, blank);
  if (blank != std::string_view::npos) query.version = VersionRange::parse(head.substr(blank + 1));
}

void read_word(std::string_view word, const std::set<std::string>& compilers, ImageQuery& query) {
  const std::string text(word);
  const std::size_t blank = text.find(' ');
  if (text == "optimised" || text == "stock") {
    query.opt_build = text == "optimised";
  } else if (compilers.contains(text)) {
    query.compilers[text] = true;
  } else if (text.starts_with("no ") && compilers.contains(text.substr(3))) {
    query.compilers[text.substr(3)] = false;
  } else if (blank != std::string::npos) {
    query.selectors[text.substr(0, blank)] = text.substr(blank + 1);
  } else if (is_one_of(method_names(), text)) {
    query.method = text;
  } else if (text.starts_with("sm_") || text.starts_with("gfx")) {
    query.gpu = text;
  } else {
    const bool is_cpu = is_word_of(dsl_words::cpu_types(), text);
    const bool is_accelerator = is_word_of(dsl_words::acc_types(), text);
    if (is_cpu && is_accelerator) return;  // "amd": a processor, or an accelerator
    (is_cpu ? query.cpu_type : is_accelerator ? query.acc_type : query.cpu) = text;
  }
}

}  // namespace

std::optional<ImageQuery> query_of(const Demand& demand, const std::set<std::string>& compilers) {
  ImageQuery query;
  std::string_view rest = demand.question;
  bool is_head = true;
  try {
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(", "), rest.size());
      if (is_head)
        read_head(rest.substr(0, end), query);
      else
        read_word(rest.substr(0, end), compilers, query);
      is_head = false;
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  // `amd` is passed over, and earlier questions may name a GPU alone.
  if (!query.gpu.empty() && query.acc_type.empty()) query.acc_type = asked_gpu(query.gpu).first;
  return query.application.empty() ? std::nullopt : std::optional(std::move(query));
}

Host host_of(const Demand& demand) {
  Host host;
  host.known = !demand.host.empty();
  bool is_first = true;
  for (std::string_view part : split(demand.host, ',')) {
    if (is_first)
      host.description.cpu = part;
    else
      host.description.accelerators.emplace_back(part);
    is_first = false;
  }
  return host;
}

}  // namespace kiln
