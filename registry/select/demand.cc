#include "registry/select/demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "factory/base/json_put.h"
#include "factory/record/record_fields.h"
#include "registry/select/host_clauses.h"

namespace kiln {
namespace {

constexpr std::size_t kMostLine = 800;  // bytes; a job's question has a tenth of it

using Outcome = Demand::Outcome;

constexpr std::string_view kOutcomes[] = {"answered", "second best", "missed"};

void append_word(std::string& text, const std::string& word) {
  if (!word.empty()) text += (text.empty() ? "" : ", ") + word;
}

std::string question_text(const ImageQuery& query) {
  std::string text = query.application;
  if (!query.version.is_any()) text += " " + query.version.text();
  append_word(text, query.opt_build.value_or(false) ? "optimised" : "stock");
  for (const auto& [name, wanted] : query.compilers) append_word(text, wanted ? name : "no " + name);
  for (const auto& [choice, value] : query.selectors) append_word(text, choice + " " + value);
  for (const std::string* word : {&query.cpu_type, &query.acc_type, &query.cpu, &query.gpu, &query.method})
    append_word(text, *word);
  return text;
}

std::string host_text(const HostDescription& host) {
  std::string text = host.cpu;
  for (const std::string& accelerator : host.accelerators) text += "," + accelerator;
  return text;
}

// Why the winner is not the best that could be; "" when it is.
std::string shortcoming(const ImageQuery& query, const Host& host, const IndexEntry& winner,
                        const Microarchitectures& cpus) {
  const ImageRecord& image = winner.image;
  if (winner.stale) return "stale";
  if (!query.opt_build.value_or(false)) return "";  // a stock image is for many processors
  if (!image.optimised) return "a stock image";
  if (!host.known || cpus.find(host.description.cpu) == nullptr) return "";
  const KnownHost known(host.description, cpus);
  const Microarchitecture* target = cpus.find(image.cpu);
  if (auto fit = gpu_fit({image, target, known, query.acc_type}); fit && fit->level > GpuFit::Level::exact)
    return "GPU code for " + list_or(image.accelerators, "none");
  if (target == nullptr || !known.cpu().fit(*target).own_name)
    return "built for " + (image.cpu.empty() ? "any processor" : image.cpu);
  return "";
}

Demand parse(const JsonNode& node) {
  Demand demand;
  demand.question = node.at("question").line_of_text();
  demand.host = text_at(node, "host");
  const auto* outcome =
      std::find(std::begin(kOutcomes), std::end(kOutcomes), node.at("outcome").line_of_text());
  if (outcome == std::end(kOutcomes)) node.fail("no outcome");
  demand.outcome = static_cast<Outcome>(outcome - std::begin(kOutcomes));
  demand.why = text_at(node, "why");
  demand.count = count_at(node, "count");
  demand.last = text_at(node, "last");
  return demand;
}

auto identity(const Demand& demand) {
  return std::tuple(demand.question, demand.host, demand.outcome, demand.why);
}

}  // namespace

std::string_view name_of(Demand::Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

Demand demand_of(const ImageQuery& query, const Host& host, const Selection& selection,
                 const Microarchitectures& cpus, std::string day) {
  Demand demand;
  demand.question = question_text(query);
  if (host.known) demand.host = host_text(host.description);
  demand.last = std::move(day);
  if (selection.winner) {
    demand.why = shortcoming(query, host, *selection.winner->entry, cpus);
    demand.outcome = demand.why.empty() ? Outcome::answered : Outcome::second_best;
  } else {
    demand.why = selection.others.empty() ? "no image of it" : selection.others.front().failed;
    demand.outcome = Outcome::missed;
  }
  return demand;
}

Json to_json(const Demand& demand) {
  return {{"question", demand.question}, {"host", demand.host},   {"outcome", name_of(demand.outcome)},
          {"why", demand.why},           {"count", demand.count}, {"last", demand.last}};
}

std::string demand_line(const Demand& demand) {
  Json json{{"question", demand.question}, {"outcome", name_of(demand.outcome)}, {"count", demand.count}};
  put(json, "host", demand.host);
  put(json, "why", demand.why);
  put(json, "last", demand.last);
  std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return line.size() <= kMostLine ? line : "";
}

std::vector<Demand> sum_of_demand(std::string_view lines) {
  std::map<decltype(identity({})), Demand> sums;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    try {
      Demand demand = parse(JsonDocument::parse(line, "demand.jsonl").root());
      auto [found, is_new] = sums.try_emplace(identity(demand), demand);
      if (is_new) continue;
      found->second.count += demand.count;
      found->second.last = std::max(found->second.last, demand.last);
    } catch (const Error&) {  // cut by a full disk, or damaged: one counter less
    }
  }
  std::vector<Demand> result;
  for (auto& [unused, demand] : sums) result.push_back(std::move(demand));
  std::stable_sort(result.begin(), result.end(), [](const Demand& a, const Demand& b) {
    return std::pair(b.outcome, b.count) < std::pair(a.outcome, a.count);
  });
  return result;
}

}  // namespace kiln
