#include "registry/select/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "factory/base/text.h"
#include "registry/select/gain.h"
#include "registry/select/query_clauses.h"
#include "registry/select/ranking.h"
#include "registry/select/tuned_setting.h"

namespace kiln {
namespace {

std::string measured_text(const Measurement& measurement) {
  const HostDescription& host = measurement.host;
  std::string place = host.model.empty() ? host.cpu : host.model;
  if (!place.empty()) place = ", " + place;
  if (host.cores > 0) place += ", " + counted(static_cast<std::size_t>(host.cores), "core");
  return fmt::format("measured {} ({}{})", speed_text(measurement), measurement.workload, place);
}

// Only images that took turns have a gain: speeds of two days or of two versions of a workload do not
// compare.
std::string speed_against(const Ranked& winner, const Ranked& other) {
  const auto gain = gain_over(winner.candidate.entry->measurements, other.candidate.entry->measurements,
                              *winner.candidate.measured);
  return gain ? gain_text(gain->gain, other.name) : "not measured in turns with " + other.name;
}

// Against the next one, and against the best stock image when that is another: this is what an optimised
// build has to beat.
std::string speed_reason(const std::vector<Ranked>& ranked) {
  const Ranked& winner = ranked.front();
  std::string text = measured_text(*winner.candidate.measured);
  std::string against;
  bool stock_named = !winner.candidate.entry->image.optimised;
  for (std::size_t i = 1; i < ranked.size() && ranked[i].candidate.measured != nullptr; ++i) {
    bool stock = !ranked[i].candidate.entry->image.optimised;
    if (i > 1 && (stock_named || !stock)) continue;
    against += (against.empty() ? ": " : ", ") + speed_against(winner, ranked[i]);
    stock_named = stock_named || stock;
  }
  return text + against;
}

std::string target_text(const ImageRecord& image) {
  std::string text = image.cpu.empty() ? "any processor" : image.cpu;
  for (const auto& accelerator : image.accelerators) text += "," + accelerator;
  return text;
}

std::string gpu_text(const Ranked& ranked) {
  switch (ranked.standing.code.gpu.level) {
    case GpuFit::Level::own:
      return "code for this GPU with its own features";
    case GpuFit::Level::exact:
      return "code for this GPU";
    case GpuFit::Level::older:
      return "code for an older GPU of this generation";
    case GpuFit::Level::ptx:
      return "PTX, which the driver compiles";
    case GpuFit::Level::unnamed:
    case GpuFit::Level::none:
      break;
  }
  return "code for GPUs that are not named";
}

std::string gpu_code_reason(const Ranked& winner, const Ranked& next) {
  if (winner.standing.code.gpu.level == next.standing.code.gpu.level)
    return fmt::format("its {} is nearer to this GPU than that of {}", gpu_text(winner), next.name);
  return fmt::format("has {}; {} has {}", gpu_text(winner), next.name, gpu_text(next));
}

std::string where_text(const ImageRecord& image) {
  std::string where = image.tests ? tested_where(*image.tests) : "";
  return where.empty() ? "tested on an unknown host" : where;
}

// What speaks against the second of two that differ in this alone.
std::string state_text(const Ranked& ranked) {
  const IndexEntry& entry = *ranked.candidate.entry;
  if (entry.stale) return "is stale";
  if (entry.image.external()) return "is a mapping, and not tested here";
  if (ranked.standing.doubt == kDoubtful) return "is untested here: " + entry.image.why_untested();
  return "was not tested on a host like this one: " + where_text(entry.image);
}

std::string cuda_text(const ImageRecord& image) {
  return image.needs.cuda.text().empty() ? "an unknown CUDA" : "CUDA " + image.needs.cuda.text();
}

std::string optimised_reason(const Ranked& winner, const Ranked& next) {
  const std::string word = build_word(*winner.candidate.entry, winner.candidate.measured);
  if (word == "optimised build")
    return fmt::format("an optimised build, which is asked for; {} is not", next.name);
  return fmt::format("{}; {} is the stock image, which is not asked for", word, next.name);
}

std::string preference_reason(const Ranked& winner, const Ranked& next) {
  const ImageRecord& image = winner.candidate.entry->image;
  const ImageRecord& other = next.candidate.entry->image;
  switch (first_difference(winner, next)) {
    case Preference::released:
      return fmt::format("a release; {} of {} is a pre-release", other.version.text(), next.name);
    case Preference::gain:
      return fmt::format("{}: {}", next.name, gain_state(next.candidate.measured));
    case Preference::measured:
      return fmt::format("{} is not measured where it compares", next.name);
    case Preference::speed:
      return "";
    case Preference::prediction:
      return fmt::format("{} is predicted slower: {}", next.name, next.candidate.predicted->text());
    case Preference::optimised:
      return optimised_reason(winner, next);
    case Preference::fewer_accelerators:
      return fmt::format("needs fewer accelerators than {}", next.name);
    case Preference::machine_code:
    case Preference::gpu_code:
      return gpu_code_reason(winner, next);
    case Preference::cpu_code:
      return fmt::format("built for {}, better code for this processor than {} of {}", target_text(image),
                         target_text(other), next.name);
    case Preference::gpu_reach:
    case Preference::cpu_reach:
      return fmt::format("built for {}, which runs in more places than {} of {}", target_text(image),
                         target_text(other), next.name);
    case Preference::version:
      return fmt::format("version {} is newer than {} of {}", image.version.text(), other.version.text(),
                         next.name);
    case Preference::state:
      return fmt::format("{} {}", next.name, state_text(next));
    case Preference::fewer_components:
      return fmt::format("{} has {}, which {} not asked for", next.name, list_or(next.unasked, ""),
                         next.unasked.size() == 1 ? "is" : "are");
    case Preference::cuda:
      return fmt::format("made with CUDA {}; {} with {}", image.needs.cuda.text(), next.name,
                         cuda_text(other));
    case Preference::name:
      break;
  }
  return fmt::format("equal to {}, and first by name", next.name);
}

std::string place_reason(const Ranked& winner, const Host& host) {
  std::string built = "built for " + target_text(winner.candidate.entry->image);
  if (!host.known || host.description.cpu.empty()) return built;
  const bool by_ptx = winner.standing.code.gpu.level == GpuFit::Level::ptx;
  return fmt::format("{}; host {} runs it{}", built, host.description.cpu,
                     by_ptx ? ", the GPU by PTX, which the driver compiles" : "");
}

// The choices that the question makes besides the application, as the image has them.
std::string choices_made(const ImageQuery& query, const Candidate& candidate) {
  const ImageRecord& image = candidate.entry->image;
  std::string text;
  if (query.opt_build && *query.opt_build == image.optimised)
    text += ", " + build_word(*candidate.entry, candidate.measured);
  for (const auto& [name, wanted] : query.compilers) text += wanted ? ", " + name : ", no " + name;
  if (!query.method.empty()) text += ", by " + query.method;
  for (const auto& [choice, value] : query.selectors) text += fmt::format(", {} {}", choice, value);
  if (!query.version.is_any() && !asks_version_of_application(query))
    text += ", version " + query.version.text();
  return text;
}

// No choice is named that the question does not make.
std::string choices_reason(const ImageQuery& query, const Candidate& candidate) {
  const ImageRecord& image = candidate.entry->image;
  const std::string versioned =
      image.version.text().empty() ? image.application : image.application + " " + image.version.text();
  const bool asks_version = !query.version.is_any() && asks_version_of_application(query);
  const bool falls_short = query.opt_build.value_or(false) && !image.optimised;
  const std::string made = choices_made(query, candidate);
  if (made.empty() && !asks_version && !falls_short)
    return fmt::format("is {}, {}", versioned, build_word(*candidate.entry, candidate.measured));
  return fmt::format("has every choice{}: {}{}", falls_short ? " but an optimised build" : "",
                     asks_version ? versioned : image.application, made);
}

// Why an image stands after the winner.
std::string behind_text(const Ranked& winner, const Ranked& other) {
  const ImageRecord& image = other.candidate.entry->image;
  switch (first_difference(winner, other)) {
    case Preference::released:
      return fmt::format("{} is a pre-release", image.version.text());
    case Preference::gain:
      return gain_state(other.candidate.measured);
    case Preference::measured:
      return "not measured";
    case Preference::speed:
      return "slower";
    case Preference::prediction:
      return "predicted slower";
    case Preference::optimised:
      return "not an optimised build";
    case Preference::fewer_accelerators:
      return fmt::format("needs {}", list_or(image.accelerators, "no accelerator"));
    case Preference::machine_code:
    case Preference::gpu_code:
      return winner.standing.code.gpu.level == other.standing.code.gpu.level
                 ? fmt::format("its {} is further from this GPU", gpu_text(other))
                 : fmt::format("has {}", gpu_text(other));
    case Preference::cpu_code:
      return fmt::format("built for {}, worse code for this processor", target_text(image));
    case Preference::gpu_reach:
    case Preference::cpu_reach:
      return fmt::format("built for {}, which runs in fewer places", target_text(image));
    case Preference::version:
      return fmt::format("version {} is older", image.version.text());
    case Preference::state:
      return state_text(other);
    case Preference::fewer_components:
      return fmt::format("has {}, which {} not asked for", list_or(other.unasked, ""),
                         other.unasked.size() == 1 ? "is" : "are");
    case Preference::cuda:
      return "made with " + cuda_text(image);
    case Preference::name:
      break;
  }
  return "equal, and later by name";
}

// The strongest features that made a prediction.
std::string strongest(const PredictedSpeed& predicted) {
  constexpr std::size_t kShown = 4;
  const std::span<const std::string> reasons(predicted.reasons);
  return joined(reasons.first(std::min(reasons.size(), kShown)), "; ");
}

void add_prediction(std::vector<std::string>& reasons, const Candidate& winner,
                    const Predictions& predictions) {
  if (!winner.predicted) return;
  const std::string made_by = strongest(*winner.predicted);
  reasons.push_back(fmt::format("predicted {} ({}){}{}", winner.predicted->text(), predictions.workload,
                                made_by.empty() ? "" : ": ", made_by));
  reasons.push_back("the prediction's model, " + predictions.check);
}

std::vector<std::string> reasons_for(const ImageQuery& query, const std::vector<Ranked>& ranked,
                                     const Host& host, const Predictions& predictions) {
  const Ranked& winner = ranked.front();
  const IndexEntry& entry = *winner.candidate.entry;
  std::vector<std::string> reasons = {place_reason(winner, host), choices_reason(query, winner.candidate)};
  if (winner.candidate.measured != nullptr) {
    reasons.push_back(speed_reason(ranked));
    if (winner.candidate.measured->over_stock)
      reasons.push_back("gain over stock: " + gain_state(winner.candidate.measured));
  }
  add_prediction(reasons, winner.candidate, predictions);
  if (ranked.size() == 1) {
    reasons.push_back("the only image that qualifies");
  } else if (std::string reason = preference_reason(winner, ranked[1]); !reason.empty()) {
    reasons.push_back(std::move(reason));
  }
  if (entry.failing)
    reasons.push_back("failing: it fails a test that its recipe has by now, and is allowed to");
  if (entry.stale) reasons.push_back("stale: its last rebuild failed, and an earlier image replaces it");
  if (entry.image.tests && winner.standing.doubt < kDoubtful)
    if (std::string where = tested_where(*entry.image.tests); !where.empty()) reasons.push_back(where);
  if (std::string why = entry.image.why_untested(); !why.empty())
    reasons.push_back((entry.image.external() ? "" : "untested here: ") + why);
  return reasons;
}

void add_tuning(Selection& selection, const ImageQuery& query, const Host& host) {
  TunedChoice choice = tuned_for(query, *selection.winner->entry, host);
  if (choice.setting) selection.reasons.push_back(text_of(*choice.setting));
  if (!choice.unused.empty()) selection.reasons.push_back(std::move(choice.unused));
  selection.tuned = std::move(choice.setting);
}

struct Miss {
  Candidate candidate;
  std::string name;
  bool other_application;
  bool lacks_more;         // another clause fails as well
  bool lacks_accelerator;  // that is asked for
};

// Nearest first: images of the application, however many clauses others meet; then those that fail one clause
// alone, which is what the user can act on; of these last the ones that are not made for the accelerator that
// is asked for.
std::vector<Miss> sorted_misses(const ImageQuery& query, std::vector<Candidate> candidates) {
  std::string application = lower_case(query.application);
  std::vector<Miss> misses;
  misses.reserve(candidates.size());
  for (auto& candidate : candidates) {
    const ImageRecord& image = candidate.entry->image;
    const bool lacks_more = !candidate.alone;
    const bool lacks_accelerator = !query.acc_type.empty() && !gpu_fit(image, query.acc_type, "").runs();
    misses.push_back({std::move(candidate), image.name(), lower_case(image.application) != application,
                      lacks_more, lacks_accelerator});
  }
  std::ranges::sort(misses, [](const Miss& a, const Miss& b) {
    const ImageRecord& left = a.candidate.entry->image;
    const ImageRecord& right = b.candidate.entry->image;
    return std::tie(a.other_application, a.lacks_more, a.lacks_accelerator, b.candidate.clauses_met, a.name,
                    left.code, left.manifest) < std::tie(b.other_application, b.lacks_more,
                                                         b.lacks_accelerator, a.candidate.clauses_met, b.name,
                                                         right.code, right.manifest);
  });
  return misses;
}

constexpr const char* kFailingNow =
    "failing: it fails a test that its recipe has by now (--allow-failing takes it)";

// Gains are to be proven: leaves the images that are, and adds the others to the misses.
void refuse_unproven(std::vector<Ranked>& ranked, std::vector<Candidate>& failing) {
  for (Ranked& one : ranked) {
    if (one.standing.gain == GainRank::proven) continue;
    one.candidate.failed = "not proven faster than stock: " + gain_state(one.candidate.measured);
    one.candidate.alone = true;
    failing.push_back(std::move(one.candidate));
  }
  std::erase_if(ranked, [](const Ranked& one) { return one.standing.gain != GainRank::proven; });
}

}  // namespace

Selection select_image(const ImageQuery& query, const std::vector<IndexEntry>& entries, const Host& host,
                       const Microarchitectures& cpus, const Predictions& predictions) {
  std::vector<Candidate> qualifying;
  std::vector<Candidate> failing;
  const std::optional<KnownHost> known = known_host(host.description, host.known, cpus);
  const QueryClauses judge(query, known, cpus);
  for (const auto& entry : entries) {
    ClausesMet judgement = judge(entry.image);
    const bool holds = judgement.failed.empty();
    if (holds && !entry.retired.empty()) judgement.failed = "retired: " + entry.retired;
    if (judgement.failed.empty() && entry.failing && !query.allow_failing) judgement.failed = kFailingNow;
    bool qualifies = judgement.failed.empty();
    (qualifies ? qualifying : failing)
        .push_back({&entry, std::move(judgement.failed), judgement.met, nullptr, judgement.host_refuses,
                    judgement.alone || holds});
  }
  Selection selection;
  std::vector<Ranked> ranked = rank(query, std::move(qualifying), host, cpus, predictions);
  if (query.strict_gains && query.opt_build.value_or(false)) refuse_unproven(ranked, failing);
  std::vector<Miss> misses = sorted_misses(query, std::move(failing));
  if (!ranked.empty()) {
    selection.winner = ranked.front().candidate;
    selection.reasons = reasons_for(query, ranked, host, predictions);
    add_tuning(selection, query, host);
  } else if (!misses.empty()) {
    selection.nearest_miss = misses.front().name + ": " + misses.front().candidate.failed;
    selection.host_refuses = misses.front().candidate.host_refuses;
  }
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    selection.others.push_back(ranked[i].candidate);
    selection.others.back().behind = behind_text(ranked.front(), ranked[i]);
  }
  for (auto& miss : misses) selection.others.push_back(std::move(miss.candidate));
  return selection;
}

}  // namespace kiln
