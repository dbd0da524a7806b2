#include "cli/evidence_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/image_name.h"
#include "cli/invocation.h"
#include "evidence/evidence.h"
#include "image/failure.h"
#include "registry/blob_store.h"

namespace kiln {
namespace {

constexpr std::string_view kReportType = "application/vnd.kiln.evidence.v1+json";

std::string library_path(const ImageSpec& spec, const StepRecord& last) {
  auto set = spec.environment.find("LD_LIBRARY_PATH");
  if (set != spec.environment.end()) return set->second;
  constexpr std::string_view kName = "LD_LIBRARY_PATH=";
  if (last.base)
    for (const std::string& entry : last.base->env)
      if (entry.starts_with(kName)) return entry.substr(kName.size());
  return "";
}

// Each compiler's flags once: "gcc 14.2.0: -O2 -march=haswell -mtune=haswell".
std::vector<std::string> flags_of(const ImageSpec& spec) {
  std::set<std::string> flags;
  for (const FlagOrigin& origin : spec.flags)
    if (origin.variable == "CFLAGS" || origin.variable == "CXXFLAGS" ||
        origin.variable == "KILN_BAZEL_COPTS" || origin.variable == "KILN_CPU_FLAGS")
      if (!origin.value.empty()) flags.insert(origin.compiler + ": " + origin.value);
  return {flags.begin(), flags.end()};
}

evidence::Declaration declaration_of(const ImageSpec& spec, const BuildPlan& plan, const StepRecord& last) {
  std::set<std::string> optimised;
  for (const ComponentUse& use : spec.components)
    if (use.optimised) optimised.insert(fmt::format("{}/{}", name_of(use.kind), use.name));
  evidence::Declaration declared;
  declared.target = spec.target.cpu;
  declared.flags = flags_of(spec);
  declared.library_path = library_path(spec, last);
  for (std::size_t i = 0; i < last.layers.size(); ++i) {
    auto step = plan.steps.find(last.layers[i].step);
    if (step != plan.steps.end() && optimised.contains(step->second.component))
      declared.layers.insert(static_cast<std::uint16_t>(i));
  }
  declared.optimised = !declared.layers.empty();
  return declared;
}

EvidenceRecord record_of(const evidence::Evidence& found, const Digest& report) {
  EvidenceRecord record;
  record.verdict = name_of(found.verdict);
  record.target = found.declared.target;
  record.flags = found.declared.flags;
  record.unconditional = found.unconditional();
  record.dispatched = found.dispatched();
  for (const auto* names : {&found.gpu.sm, &found.gpu.compute, &found.gpu.gfx})
    record.gpu.insert(record.gpu.end(), names->begin(), names->end());
  record.glibc = found.glibc.needed;
  std::set<std::string> missing;
  for (const evidence::MissingLibrary& library : found.missing)
    if (library.elsewhere.empty()) missing.insert(library.library);
  record.missing.assign(missing.begin(), missing.end());
  for (const evidence::Excess& excess : found.excesses)
    record.beyond_target += excess.accepted.empty() ? 1 : 0;
  record.report = report;
  return record;
}

std::vector<evidence::LayerBlob> blobs_of(const StepRecord& last, const BlobStore& store) {
  std::vector<evidence::LayerBlob> blobs;
  for (const LayerRecord& layer : last.layers)
    blobs.push_back({store.path(layer.blob.digest), layer.blob, layer.diff_id});
  return blobs;
}

void fail(const evidence::Evidence& found) {
  std::string first;
  std::size_t count = 0;
  for (const evidence::Excess& excess : found.excesses) {
    if (!excess.accepted.empty()) continue;
    if (count++ == 0) first = describe(excess);
  }
  std::string more = count > 1 ? fmt::format("; {} findings in all", count) : "";
  throw Error(
      ExitCode::images_failed,
      fmt::format("code exceeds the target {}: {}{}", found.declared.target, first, more),
      "the log has them all; a site file with \"evidence\": \"report\" packages the image all the same");
}

}  // namespace

BuiltContents examine_built(const PlannedImage& image, const BuildPlan& plan, const StepRecord& last,
                            Invocation& invocation) {
  StatePaths state = invocation.state();
  BlobStore store(state.store());
  evidence::FolderCache cache(state.evidence(), invocation.files);
  sbom::DatabaseFiles databases;
  evidence::ReadOptions options{usable_processors(), &cache, &databases, {}};
  evidence::ImageFiles files = evidence::read_layers(blobs_of(last, store), options);
  evidence::Evidence found =
      evidence::judge(files, declaration_of(image.spec, plan, last), invocation.cpus());
  std::string report = to_json(found, true).dump(1, ' ', false, Json::error_handler_t::replace);
  Digest digest = store.put(report, std::string(kReportType)).digest;
  invocation.files.write(state.log(image.spec.key), to_table(found, false));
  if (found.verdict == evidence::Verdict::exceeds && invocation.site().evidence_fails) fail(found);
  return {record_of(found, digest), sbom::read_inventory(files.tree, databases)};
}

void record_image_failure(const PlannedImage& image, const Error& error, double seconds,
                          Invocation& invocation) {
  StatePaths state = invocation.state();
  FailureRecord failure;
  failure.key = image.spec.key;
  failure.failure = failure_class_of(error);
  failure.what = error.message();
  failure.hint = error.hint();
  failure.log = state.log(image.spec.key);
  failure.exit_code = error.code();
  failure.seconds = seconds;
  if (!invocation.files.exists(failure.log)) invocation.files.write(failure.log, error.format() + "\n");
  invocation.files.write(state.failure(image.spec.key), to_json(failure).dump(1));
}

}  // namespace kiln
