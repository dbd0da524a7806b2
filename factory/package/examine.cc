#include "factory/package/examine.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/text.h"
#include "factory/package/kept_findings.h"
#include "factory/package/package.h"

namespace kiln {
namespace {

std::string library_path(const ImageConfig& config) {
  constexpr std::string_view kName = "LD_LIBRARY_PATH=";
  for (const std::string& entry : config.env)
    if (entry.starts_with(kName)) return entry.substr(kName.size());
  return "";
}

std::string library_path(const ImageSpec& spec, const LayerChain& built) {
  auto set = spec.environment.find("LD_LIBRARY_PATH");
  if (set != spec.environment.end()) return set->second;
  return built.base ? library_path(*built.base) : "";
}

// Of the label io.kiln.accept (resolve/labels.cc), which says nothing of layers. A label of others in this
// place accepts nothing.
std::vector<evidence::Acceptance> accepted_by(const ImageConfig& config) {
  const std::string label = value_or(config.labels, "io.kiln.accept");
  if (label.empty()) return {};
  std::vector<evidence::Acceptance> all;
  try {
    const JsonDocument document = JsonDocument::parse(label, "io.kiln.accept");
    for (const JsonNode& item : document.root().items())
      all.push_back(
          {item.at("file").string(), item.at("reason").line_of_text(), item.at("by").line_of_text()});
  } catch (const Error&) {
    return {};
  }
  return all;
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

// The layers that the steps of `component` made.
std::set<std::uint16_t> layers_of(const std::string& component, const std::vector<const Step*>& steps,
                                  const LayerChain& built) {
  std::set<std::uint16_t> layers;
  for (std::size_t i = 0; i < built.layers.size(); ++i) {
    auto made_layer = [&](const Step* step) { return step->key == built.layers[i].step; };
    auto step = std::ranges::find_if(steps, made_layer);
    if (step != steps.end() && (*step)->component == component) layers.insert(static_cast<std::uint16_t>(i));
  }
  return layers;
}

// A recipe vouches for its own files: what it accepts says nothing of other components' code.
void add_component(const ComponentUse& use, const std::vector<const Step*>& steps, const LayerChain& built,
                   evidence::Declaration& declared) {
  if (!use.optimised && use.accept.empty()) return;
  const std::string name = fmt::format("{}/{}", name_of(use.kind), use.name);
  const std::set<std::uint16_t> layers = layers_of(name, steps, built);
  if (use.optimised) declared.layers.insert(layers.begin(), layers.end());
  for (const AcceptedFile& accepted : use.accept)
    declared.accept.push_back({accepted.file, accepted.reason, name, layers});
}

evidence::Declaration declaration_of(const ImageSpec& spec, const LayerChain& built) {
  evidence::Declaration declared;
  declared.target = spec.target.cpu;
  declared.flags = flags_of(spec);
  declared.library_path = library_path(spec, built);
  const std::vector<const Step*> steps = spec.steps();
  for (const ComponentUse& use : spec.components) add_component(use, steps, built, declared);
  declared.optimised = !declared.layers.empty();
  return declared;
}

// Libraries without which a program cannot start, and a file that needs each.
void add_missing(const evidence::Evidence& found, EvidenceRecord& record) {
  std::map<std::string, std::string> missing;
  for (const evidence::MissingLibrary& library : evidence::that_stop_programs(found.missing, found.files))
    missing.emplace(library.library, "/" + library.file);
  for (const auto& [library, file] : missing) {
    record.missing.push_back(library);
    record.shown_by.emplace(library, file);
  }
}

void add_excesses(const evidence::Evidence& found, EvidenceRecord& record) {
  std::set<std::string> features;
  for (const evidence::Excess& excess : found.excesses) {
    if (!excess.accepted.empty()) {
      AcceptedRecord accepted{"/" + excess.file, excess.accepted, excess.accepted_by};
      if (record.accepted.empty() || record.accepted.back().file != accepted.file)  // sorted by file
        record.accepted.push_back(std::move(accepted));
      continue;
    }
    ++record.beyond_target;
    features.insert(excess.feature);
    record.shown_by.emplace(excess.feature, "/" + excess.file);
  }
  record.exceeding.assign(features.begin(), features.end());
}

// What other files show is then not all there is.
bool hides_gpu_code(const evidence::Evidence& found) {
  return std::ranges::any_of(found.problems,
                             [](const auto& problem) { return evidence::hides_gfx(problem.second); });
}

// The first file by name that has code for each GPU.
void add_gpu_code(const evidence::Evidence& found, EvidenceRecord& record) {
  record.gpu_hidden = hides_gpu_code(found);
  for (const auto* names : {&found.gpu.sm, &found.gpu.compute, &found.gpu.gfx})
    record.gpu.insert(record.gpu.end(), names->begin(), names->end());
  for (const evidence::ElfEntry& entry : found.files)
    for (const auto* names : {&entry.facts->gpu.sm, &entry.facts->gpu.compute, &entry.facts->gpu.gfx})
      for (const std::string& name : *names) record.shown_by.emplace(name, "/" + entry.path);
}

EvidenceRecord record_of(const evidence::Evidence& found, const Digest& report) {
  EvidenceRecord record;
  record.verdict = name_of(found.verdict);
  record.target = found.declared.target;
  record.flags = found.declared.flags;
  record.unconditional = found.unconditional();
  record.dispatched = found.dispatched();
  record.glibc = found.glibc.needed;
  record.glibc_provided = found.glibc.provided;
  if (!record.glibc.empty()) record.shown_by.emplace("glibc", "/" + found.glibc.file);
  add_missing(found, record);
  add_excesses(found, record);
  add_gpu_code(found, record);
  record.report = report;
  return record;
}

std::vector<evidence::LayerBlob> blobs_of(const LayerChain& built, const BlobStore& store) {
  std::vector<evidence::LayerBlob> blobs;
  for (const BuiltLayer& layer : built.layers)
    blobs.push_back({store.path(layer.blob.digest), layer.blob, layer.diff_id});
  return blobs;
}

// "code exceeds the target haswell: …; 3 findings in all; the lowest target that holds it is x86_64_v4"
std::string excess_of(const evidence::Evidence& found) {
  std::string first;
  std::size_t count = 0;
  for (const evidence::Excess& excess : found.excesses) {
    if (!excess.accepted.empty()) continue;
    if (count++ == 0) first = describe(excess);
  }
  std::string more = count > 1 ? fmt::format("; {} findings in all", count) : "";
  std::string holder = found.lowest_target.empty()
                           ? "no target of archspec's holds it"
                           : "the lowest target that holds it is " + found.lowest_target;
  return fmt::format("code exceeds the target {}: {}{}; {}", found.declared.target, first, more, holder);
}

struct ReadLayers {
  evidence::ImageFiles files;
  sbom::DatabaseFiles databases;
};

ReadLayers read_layers(const std::vector<evidence::LayerBlob>& layers, const Examination& how,
                       KeptLayers* kept) {
  ReadLayers read;
  read.files = evidence::read_layers(layers, {how.jobs, how.cache, &read.databases, kept, {}});
  return read;
}

// What is kept of layers may spare work and nothing else: an image that is refused is refused by its layers,
// in their words.
ReadLayers read_layers(const std::vector<evidence::LayerBlob>& layers, const Examination& how) {
  if (how.layers != nullptr) try {
      return read_layers(layers, how, how.layers);
    } catch (const Error& error) {
      if (error.code() != ExitCode::input) throw;
    }
  return read_layers(layers, how, nullptr);
}

Contents read_contents(const evidence::Declaration& declared, const LayerChain& built, const BlobStore& store,
                       const Examination& how) {
  auto [files, databases] = read_layers(blobs_of(built, store), how);
  evidence::Evidence found = evidence::judge(files, declared, how.cpus);
  std::string report = to_json(found, true).dump(1, ' ', false, Json::error_handler_t::replace);
  Digest digest = store.put(report, std::string(kEvidenceType)).digest;
  Contents contents{record_of(found, digest), sbom::read_inventory(files.tree, databases),
                    to_table(found, false), ""};
  if (found.verdict == evidence::Verdict::exceeds) contents.excess = excess_of(found);
  return contents;
}

}  // namespace

Contents examine(const ImageSpec& spec, const LayerChain& built, const BlobStore& store,
                 const Examination& how) {
  const evidence::Declaration declared = declaration_of(spec, built);
  auto read = [&] { return read_contents(declared, built, store, how); };
  return how.kept != nullptr ? how.kept->once(built, declared, store, read) : read();
}

evidence::Declaration declared_by(const ImageConfig& config, const std::string& target) {
  evidence::Declaration declared;
  declared.target = target.empty() ? value_or(config.labels, "io.kiln.cpu.target") : target;
  // Images of earlier kilns have the second label.
  declared.optimised = !target.empty() || value_or(config.labels, "io.kiln.claims_gain") == "true" ||
                       value_or(config.labels, "io.kiln.optimised") == "true";
  std::string flags = value_or(config.labels, "io.kiln.cpu.flags");
  if (target.empty() && !flags.empty()) declared.flags = {flags};
  declared.library_path = library_path(config);
  declared.accept = accepted_by(config);
  return declared;
}

void refuse_excess(const Contents& contents) {
  if (contents.excess.empty()) return;
  throw Error(ExitCode::images_failed, contents.excess,
              "the log has them all; \"accept\" of a recipe names files that ask the processor first; a site "
              "file with \"evidence\": \"report\" packages the image all the same");
}

}  // namespace kiln
