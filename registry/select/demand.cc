#include "registry/select/demand.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "factory/base/durable_file.h"
#include "factory/base/json_put.h"
#include "factory/base/read_whole.h"
#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "factory/record/record_fields.h"
#include "registry/select/dsl_words.h"
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
  for (std::string_view line : split(lines, '\n')) {
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
  std::ranges::stable_sort(result, [](const Demand& a, const Demand& b) {
    return std::pair(b.outcome, b.count) < std::pair(a.outcome, a.count);
  });
  return result;
}

// The file of the counters: a line a question, summed up when it has grown.

namespace fs = std::filesystem;
namespace {

constexpr const char* kFile = "demand.jsonl";
constexpr std::uint64_t kSumUpFrom = 4u << 20;  // bytes
constexpr std::size_t kMostKept = 4000;         // questions, those asked most: at most 3.2 MB
constexpr std::uint64_t kMostRead = 64u << 20;
constexpr std::chrono::milliseconds kPatience{50};  // a counter is not worth more

void sum_up(const fs::path& file) {
  std::vector<Demand> sums = sum_of_demand(read_whole(file, kMostRead).value_or(""));
  if (sums.size() > kMostKept) {
    std::ranges::stable_sort(sums, [](const Demand& a, const Demand& b) { return a.count > b.count; });
    sums.resize(kMostKept);
  }
  std::string text;
  for (const Demand& demand : sums) text += demand_line(demand);
  DurableFile written(file.parent_path());
  written.write(text.data(), text.size());
  written.publish(file);
}

}  // namespace

bool record_demand(const fs::path& state, const Demand& demand) {
  const std::string line = demand_line(demand);
  if (line.empty()) return false;
  LineFile file(state / kFile, kPatience);
  if (!file.is_open() || !file.append(line)) return false;
  try {
    if (file.size() >= kSumUpFrom) sum_up(state / kFile);
  } catch (const Error&) {  // the next one does it
  }
  return true;
}

std::vector<Demand> read_demand(const fs::path& state) {
  return sum_of_demand(read_whole(state / kFile, kMostRead).value_or(""));
}

namespace {

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
  } else if (contains(method_names(), text)) {
    query.method = text;
  } else if (text.starts_with("sm_") || text.starts_with("gfx")) {
    query.gpu = text;
  } else {
    const bool is_cpu = contains(dsl_words().cpu_types, text);
    const bool is_accelerator = contains(dsl_words().acc_types, text);
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
