#include "registry/select/ranking.h"

#include <algorithm>
#include <tuple>

#include "factory/base/text.h"
#include "registry/select/dsl_words.h"

namespace kiln {
namespace {

// Of two ways in which "less" is better.
template <typename Value>
bool differ(const Value& a, const Value& b, Preference by, Difference& difference) {
  difference = {a <=> b, by};
  return std::is_neq(difference.order);
}

// What an image is not made of without somebody wanting it.
bool is_addition(const ComponentRecord& component, const ImageQuery& query) {
  for (const char* kind : {"base", "toolchain", "framework", "compiler"})
    if (component.kind == kind) return false;
  return !component.optimised || !query.opt_build.value_or(false);
}

bool is_named(const ComponentRecord& component, const ImageQuery& query) {
  if (lower_case(component.name) == lower_case(query.application)) return true;
  if (component.kind == "distributed" && query.selectors.contains("distributed_training")) return true;
  return std::ranges::any_of(query.selectors, [&](const auto& choice) {
    const std::vector<std::string> names = chosen_components(choice.second);
    return contains(names, component.name) || choice.first == component.name ||
           choice.first == component.kind || (!component.role.empty() && choice.first == component.role);
  });
}

Difference difference(const Ranked& a, const Ranked& b) {
  Difference result = difference(a.standing, b.standing);
  if (std::is_neq(result.order)) return result;
  const ImageRecord& left = a.candidate.entry->image;
  const ImageRecord& right = b.candidate.entry->image;
  differ(std::tie(a.name, left.code, left.manifest), std::tie(b.name, right.code, right.manifest),
         Preference::name, result);
  return result;
}

}  // namespace

Difference difference(const ImageStanding& a, const ImageStanding& b) {
  Difference result{std::strong_ordering::equal, Preference::name};
  if (differ(a.pre_release, b.pre_release, Preference::released, result)) return result;
  if (differ(a.gain, b.gain, Preference::gain, result)) return result;
  if (differ(b.measured, a.measured, Preference::measured, result)) return result;
  if (differ(a.speed_class, b.speed_class, Preference::speed, result)) return result;
  if (differ(a.predicted_class, b.predicted_class, Preference::prediction, result)) return result;
  if (differ(a.by_ptx, b.by_ptx, Preference::machine_code, result)) return result;
  if (differ(a.stock, b.stock, Preference::optimised, result)) return result;
  if (differ(a.code.accelerators, b.code.accelerators, Preference::fewer_accelerators, result)) return result;
  if (differ(a.code.gpu, b.code.gpu, Preference::gpu_code, result)) return result;
  if (differ(a.code.gpu_reach, b.code.gpu_reach, Preference::gpu_reach, result)) return result;
  if (differ(b.code.cpu, a.code.cpu, Preference::cpu_code, result)) return result;
  if (differ(a.code.cpu_reach, b.code.cpu_reach, Preference::cpu_reach, result)) return result;
  if (differ(*b.version, *a.version, Preference::version, result)) return result;
  if (differ(a.doubt, b.doubt, Preference::state, result)) return result;
  if (differ(a.unasked, b.unasked, Preference::fewer_components, result)) return result;
  if (differ(a.code.cuda, b.code.cuda, Preference::cuda, result)) return result;
  return {std::strong_ordering::equal, Preference::name};
}

std::strong_ordering operator<=>(const CudaFit& a, const CudaFit& b) {
  if (a.known != b.known) return b.known <=> a.known;
  if (auto order = a.least_driver <=> b.least_driver; std::is_neq(order)) return order;
  return b.cuda <=> a.cuda;
}

Ranker::Ranker(const ImageQuery& query, const std::optional<KnownHost>& host, const Microarchitectures& cpus)
    : query_(&query),
      cpus_(&cpus),
      any_release_(query.version.names_pre_release()),
      known_(host ? &*host : nullptr) {
  if (known_ != nullptr || cpus.find(query.cpu) == nullptr) return;
  asked_.cpu = query.cpu;
  cpu_.emplace(asked_, cpus);
}

CodeFit Ranker::code(const ImageRecord& host) const {
  CodeFit fit;
  const Microarchitecture* target = cpus_->find(host.cpu);
  const HostCpu* cpu = known_ != nullptr ? &known_->cpu() : cpu_ ? &*cpu_ : nullptr;
  if (query_->acc_type.empty()) fit.accelerators = host.accelerators.size();
  if (cpu != nullptr)
    fit.cpu = target == nullptr ? CpuFit{} : cpu->fit(*target);
  else if (target != nullptr)
    fit.cpu_reach = reach(host, *target);
  fit.gpu = gpu(host, target);
  if (fit.gpu.level == GpuFit::Level::unnamed) fit.gpu_reach = gpu_reach(host);
  fit.cuda = cuda(host);
  return fit;
}

ImageStanding Ranker::standing(const ImageRecord& choice, const CodeFit& code, const Speed& speed,
                               int doubt) const {
  ImageStanding standing;
  standing.pre_release = !any_release_ && choice.version.is_pre_release();
  standing.gain = gain(speed.measured);
  standing.measured = speed.measured != nullptr;
  standing.speed_class = speed.speed_class;
  standing.by_ptx = by_ptx(code);
  standing.stock = query_->opt_build.value_or(false) && !choice.optimised;
  standing.code = code;
  standing.version = &choice.version;
  standing.doubt = doubt;
  standing.unasked = unasked(choice).size();
  return standing;
}

GainRank Ranker::gain(const Measurement* measured) const {
  if (measured == nullptr || !query_->opt_build.value_or(false)) return GainRank::unknown;
  switch (stock_gain(*measured)) {
    case StockGain::proven:
      return GainRank::proven;
    case StockGain::no_gain:
      return GainRank::none;
    case StockGain::slower:
      return GainRank::slower;
    case StockGain::not_measured:
      break;
  }
  return is_yardstick(*measured) ? GainRank::none : GainRank::unknown;
}

int Ranker::doubt(const ImageRecord& choice, const std::optional<TestsRecord>& kinds) const {
  if (!choice.why_untested().empty()) return kDoubtful;
  return known_ == nullptr || is_tested_like(kinds, known_->description()) ? 0 : 1;
}

bool Ranker::by_ptx(const CodeFit& code) const {
  return query_->opt_build.value_or(false) && code.gpu.level == GpuFit::Level::ptx;
}

std::vector<std::string> Ranker::unasked(const ImageRecord& choice) const {
  std::vector<std::string> names;
  for (const ComponentRecord& component : choice.components)
    if (is_addition(component, *query_) && !is_named(component, *query_)) names.push_back(component.name);
  return names;
}

CudaFit Ranker::cuda(const ImageRecord& image) const {
  if (image.needs.cuda.text().empty()) return {};
  CudaFit fit{true, {}, image.needs.cuda};
  if (known_ == nullptr) fit.least_driver = least_driver(image.needs);
  return fit;
}

CpuReach Ranker::reach(const ImageRecord& image, const Microarchitecture& target) {
  const std::vector<std::string> beyond = exceeding_features(image, &target);
  return reach_of(target, {beyond.begin(), beyond.end()});
}

GpuFit Ranker::gpu(const ImageRecord& image, const Microarchitecture* target) const {
  const GpuFit unnamed{GpuFit::Level::unnamed, 0};
  if (known_ != nullptr)
    return gpu_fit(ImageOnHost{image, target, *known_, query_->acc_type}).value_or(unnamed);
  if (query_->gpu.empty()) return unnamed;
  auto [vendor, code] = asked_gpu(query_->gpu);
  return gpu_fit(image, vendor, code);
}

GpuReach Ranker::gpu_reach(const ImageRecord& image) {
  GpuReach reach{false, 0, SIZE_MAX - image.accelerators.size()};
  for (const std::string& accelerator : image.accelerators) {
    const std::string code = split_accelerator(accelerator).second;
    const int number = compute_capability(code);
    reach.named = reach.named || !code.empty();
    if (number != 0 && (reach.lowest == 0 || number < reach.lowest)) reach.lowest = number;
  }
  return reach;
}

namespace {

void add_predictions(std::vector<Ranked>& ranked, const Predictions& predictions) {
  std::vector<std::optional<PredictedSpeed>> speeds;
  std::vector<Ranked*> predicted;
  for (Ranked& item : ranked) {
    if (item.speed.measured != nullptr) continue;
    item.candidate.predicted = predictions.of(item.candidate.entry->image);
    speeds.push_back(item.candidate.predicted);
    predicted.push_back(&item);
  }
  const std::vector<int> classes = predicted_classes(speeds);
  for (std::size_t i = 0; i < predicted.size(); ++i) predicted[i]->standing.predicted_class = classes[i];
}

}  // namespace

std::vector<Ranked> rank(const ImageQuery& query, std::vector<Candidate> qualifying, const Host& host,
                         const Microarchitectures& cpus, const Predictions& predictions) {
  std::vector<const IndexEntry*> entries;
  entries.reserve(qualifying.size());
  for (const Candidate& candidate : qualifying) entries.push_back(candidate.entry);
  auto speeds = comparable_speeds(entries, query.workload, host.known ? &host.description : nullptr);
  const std::optional<KnownHost> known = known_host(host.description, host.known, cpus);
  const Ranker ranker(query, known, cpus);
  std::vector<Ranked> ranked;
  ranked.reserve(qualifying.size());
  for (Candidate& candidate : qualifying) {
    const IndexEntry& entry = *candidate.entry;
    Ranked item{std::move(candidate), entry.image.name(), {}, {}, ranker.unasked(entry.image)};
    if (auto found = speeds.find(&entry); found != speeds.end()) item.speed = found->second;
    item.candidate.measured = item.speed.measured;
    const auto kinds = test_kinds(entry.image.tests, !entry.image.accelerators.empty());
    item.standing = ranker.standing(entry.image, ranker.code(entry.image), item.speed,
                                    entry.stale ? kDoubtful : ranker.doubt(entry.image, kinds));
    ranked.push_back(std::move(item));
  }
  if (predictions.of && host.known) add_predictions(ranked, predictions);
  std::ranges::sort(ranked,
                    [](const Ranked& a, const Ranked& b) { return std::is_lt(difference(a, b).order); });
  return ranked;
}

Preference first_difference(const Ranked& better, const Ranked& other) {
  return difference(better, other).by;
}

}  // namespace kiln
