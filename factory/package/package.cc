#include "factory/package/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "factory/base/text.h"
#include "factory/oci/documents.h"
#include "factory/package/kept_findings.h"
#include "factory/record/host_needs.h"
#include "factory/sbom/bill.h"
#include "factory/sif/sif_build.h"

namespace kiln {
namespace {

constexpr std::string_view kSifType = "application/vnd.sylabs.sif.layer.v1.sif";

sif::SifOptions sif_options(const SifFacts& facts) {
  sif::SifOptions options;
  options.squashfs.jobs = facts.jobs;
  options.tool = "kiln " + facts.tool;
  options.now = facts.epoch;
  options.reproducible = true;
  options.keep_times = true;
  options.check = true;
  return options;
}

// Of everything that decides the SIF's bits.
std::string conversion_key(const Artifact& artifact, const sif::SifOptions& options) {
  return Digest::of(Json{{"manifest", artifact.manifest.digest.text()},
                         {"name", artifact.record.name()},
                         {"tool", options.tool},
                         {"layout", sif::kSquashfsLayout},
                         {"compression", options.squashfs.compression},
                         {"level", options.squashfs.level},
                         {"block", options.squashfs.block_size},
                         {"epoch", options.now}}
                        .dump())
      .hex();
}

SourceImage source_of(const Artifact& artifact, const BlobStore& store) {
  std::vector<SourceImage::LayerFile> layers;
  for (const Descriptor& layer : artifact.image.layers) layers.push_back({store.path(layer.digest), layer});
  return SourceImage::of_layers({"oci", artifact.record.repository, artifact.record.tag},
                                to_json(artifact.image.config).dump(), artifact.manifest.digest, layers);
}

Descriptor convert(const Artifact& artifact, const sif::SifOptions& options,
                   const std::filesystem::path& scratch, const BlobStore& store) {
  std::filesystem::path file = scratch / "image.sif";
  try {
    sif::build_sif(source_of(artifact, store), file, options);
  } catch (Error& error) {
    error.while_doing("making the SIF of " + artifact.record.name());
    throw;
  }
  return store.put_file(file, std::string(kSifType));
}

}  // namespace

Artifact attach_sif(Artifact artifact, const SifFacts& facts, const BlobStore& store,
                    Conversions& conversions) {
  sif::SifOptions options = sif_options(facts);
  std::string key = conversion_key(artifact, options);
  std::optional<Descriptor> sif = conversions.find(key);
  if (!sif || !read_damage(store, sif->digest, sif->size).empty()) {
    sif = convert(artifact, options, facts.scratch, store);
    conversions.keep(key, *sif);
  }
  artifact.record.attachments.push_back({"sif", *sif, {}});
  return artifact;
}

Artifact package(const PackageRequest& request, const BlobStore& store, FileSystem& files,
                 Conversions& conversions) {
  const ImageSpec& spec = request.image;
  const DocumentFacts& facts = request.facts;
  CacheFolder folder(request.evidence_cache, findings_version(), files);
  evidence::FolderCache cache(folder);
  KeptContents kept(folder, facts.tool + " " + facts.flag_table);
  KeptLayers layers(folder, request.jobs, &cache);
  Contents contents =
      examine(spec, request.built, store, {request.cpus, request.jobs, &cache, &kept, &layers});
  files.write(request.evidence_log, contents.table);
  if (request.refuse_excess) refuse_excess(contents);
  Artifact artifact = compose(spec, request.built, std::move(contents.evidence), facts.epoch);
  artifact = attach_documents(std::move(artifact), spec, request.plan, request.origin, contents.inventory,
                              facts, store);
  if (request.with_sif)
    artifact = attach_sif(std::move(artifact), {facts.epoch, facts.tool, request.jobs, request.scratch},
                          store, conversions);
  return artifact;
}

namespace {

// The part of a label's name behind the prefix, for each that has it.
std::map<std::string, std::string> labels_below(const std::map<std::string, std::string>& labels,
                                                const std::string& prefix) {
  std::map<std::string, std::string> below;
  for (const auto& [name, value] : labels)
    if (name.starts_with(prefix)) below.emplace(name.substr(prefix.size()), value);
  return below;
}

// What the image needs of a host: by the facts of its components, the MPI that is in it, and its own glibc.
HostNeeds needs_of(const ImageRecord& record, const std::string& architecture, const std::string& glibc) {
  auto fact = [&](const char* name) {
    auto found = record.facts.find(name);
    return found == record.facts.end() ? Version() : Version(found->second);
  };
  HostNeeds needs;
  if (!record.accelerators.empty()) {
    needs.cuda = fact("cuda");
    needs.driver = fact("driver");
    if (needs.driver.text().empty()) needs.driver = oldest_driver(needs.cuda);
  }
  needs.glibc = glibc.empty() ? fact("glibc") : Version(glibc);
  needs.kernel = kernel_floor(needs.glibc, architecture);
  for (const ComponentRecord& component : record.components)
    if (!mpi_family(component.name).empty()) needs.mpi = {component.name, component.version};
  if (auto mpi = record.facts.find("mpi"); mpi != record.facts.end()) needs.mpi = mpi_library(mpi->second);
  if (auto vendor = record.facts.find("cpu_vendor"); vendor != record.facts.end())
    needs.vendor = vendor->second;
  if (auto pages = record.facts.find("transparent_hugepages"); pages != record.facts.end())
    needs.transparent_hugepages = pages->second;
  return needs;
}

void add_needs_labels(const HostNeeds& needs, std::map<std::string, std::string>& labels) {
  const Json json = to_json(needs);
  for (const auto& [name, value] : json.items())
    labels["io.kiln.requires." + name] = value.get<std::string>();
}

}  // namespace

ImageRecord declared_record(const ImageSpec& spec, const std::string& architecture,
                            const std::string& glibc) {
  ImageRecord record;
  record.repository = spec.repository;
  record.tag = spec.tag;
  record.immutable_tag = spec.immutable_tag;
  record.key = spec.key;
  record.cell = spec.request.id;
  const ComponentUse& main = main_component(spec.components);
  record.application = naming_component(spec.components).name;
  record.version = main.version;
  record.method = main.method;
  record.optimised = spec.optimised;
  for (const ComponentUse& use : spec.components)
    record.components.push_back(
        {std::string(name_of(use.kind)), use.name, use.version, use.method, use.optimised, use.role});
  record.cpu = spec.target.cpu;
  record.accelerators = spec.target.accelerators;
  record.labels = spec.labels;
  record.facts = labels_below(spec.labels, "io.kiln.facts.");
  record.needs = needs_of(record, architecture, glibc);
  add_needs_labels(record.needs, record.labels);
  return record;
}

namespace {

void set_variable(std::vector<std::string>& env, const std::string& name, const std::string& value) {
  auto found =
      std::ranges::find_if(env, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  if (found == env.end())
    env.push_back(name + "=" + value);
  else
    *found = name + "=" + value;
}

// The base's history counts for its layers only when it is complete; ours follows.
std::vector<HistoryEntry> history_of(const LayerChain& built, const std::string& created) {
  std::vector<HistoryEntry> history;
  std::size_t from_base = built.base ? built.base->diff_ids.size() : 0;
  auto holds_layer = [](const HistoryEntry& entry) { return !entry.empty_layer; };
  if (built.base && static_cast<std::size_t>(std::count_if(
                        built.base->history.begin(), built.base->history.end(), holds_layer)) == from_base)
    history = built.base->history;
  else
    from_base = 0;
  for (std::size_t i = from_base; i < built.layers.size(); ++i)
    history.push_back({created, built.layers[i].created_by, false});
  return history;
}

// No platform variant: containerd refuses an image of amd64/v3 on a host that calls itself amd64. The
// microarchitecture is in labels and index.
ImageConfig config_of(const ImageSpec& spec, const LayerChain& built, const std::string& created) {
  ImageConfig config = built.base.value_or(ImageConfig{});
  config.created = created;
  if (std::ranges::none_of(config.env, [](const auto& entry) { return entry.starts_with("PATH="); }))
    config.env.insert(config.env.begin(), std::string("PATH=") + kDefaultPath);
  for (const auto& [name, value] : spec.environment) set_variable(config.env, name, value);
  if (!spec.command.empty()) {
    config.cmd = spec.command;
    config.entrypoint.clear();  // the base's would take the command for its words
  }
  config.history = history_of(built, created);
  config.diff_ids.clear();
  for (const BuiltLayer& layer : built.layers) config.diff_ids.push_back(layer.diff_id);
  return config;
}

void add_evidence_labels(const EvidenceRecord& evidence, std::map<std::string, std::string>& labels) {
  if (evidence.empty()) return;
  auto add = [&](const char* name, const std::vector<std::string>& words) {
    if (!words.empty()) labels[fmt::format("io.kiln.evidence.{}", name)] = joined(words, " ");
  };
  labels["io.kiln.evidence.verdict"] = evidence.verdict;
  add("unconditional", evidence.unconditional);
  add("dispatched", evidence.dispatched);
  add("gpu", evidence.gpu);
  if (!evidence.glibc.empty()) labels["io.kiln.evidence.glibc"] = evidence.glibc;
  if (!evidence.flags.empty()) labels["io.kiln.evidence.flags"] = joined(evidence.flags, "; ");
}

}  // namespace

Artifact compose(const ImageSpec& spec, const LayerChain& built, EvidenceRecord evidence,
                 std::int64_t epoch) {
  Artifact artifact;
  LayoutImage& image = artifact.image;
  image.config = config_of(spec, built, rfc3339(epoch));
  artifact.record = declared_record(spec, image.config.architecture, evidence.glibc_provided);
  for (const BuiltLayer& layer : built.layers) artifact.record.size += layer.blob.size;
  add_evidence_labels(evidence, artifact.record.labels);
  for (const auto& [name, value] : artifact.record.labels) image.config.labels[name] = value;
  for (const BuiltLayer& layer : built.layers) image.layers.push_back(layer.blob);
  image.tag = spec.tag;
  artifact.manifest = manifest_descriptor(image);
  artifact.record.evidence = std::move(evidence);
  artifact.record.created = rfc3339(epoch);
  artifact.record.manifest = artifact.manifest.digest;
  return artifact;
}

namespace {

constexpr std::uint64_t kMostReport = 1u << 30;
constexpr std::string_view kSlsaProvenance = "https://slsa.dev/provenance/";

bool is_provenance(const std::string& statement) {
  try {
    JsonDocument document = JsonDocument::parse(statement, "statement");
    auto type = document.root().find("predicateType");
    return type && type->string().starts_with(kSlsaProvenance);
  } catch (const Error&) {
    return false;  // too large, or no JSON: another's document
  }
}

std::string_view media_type_of(const std::string& kind) {
  return kind == "spdx"        ? sbom::kSpdxType
         : kind == "cyclonedx" ? sbom::kCycloneDxType
         : kind == kGainKind   ? kGainType
                               : sbom::kProvenanceType;
}

sbom::Bill bill_of(const ImageSpec& spec, const sbom::RecipeOrigin& origin, const sbom::Inventory& inventory,
                   const DocumentFacts& facts) {
  sbom::Bill bill;
  bill.name = spec.repository;
  bill.version = spec.tag;
  if (auto title = spec.labels.find("org.opencontainers.image.title"); title != spec.labels.end())
    bill.description = title->second;
  bill.identity = spec.key;
  bill.created = facts.epoch;
  bill.tool = facts.tool;
  bill.components = sbom::components_of(spec, origin);
  bill.inventory = inventory;
  return bill;
}

}  // namespace

Artifact attach_documents(Artifact artifact, const ImageSpec& spec, const std::string& plan,
                          const sbom::RecipeOrigin& origin, const sbom::Inventory& inventory,
                          const DocumentFacts& facts, const BlobStore& store) {
  sbom::Bill bill = bill_of(spec, origin, inventory, facts);
  auto add = [&](std::string kind, std::string_view type, std::string bytes) {
    Attachment attachment =
        attach({std::move(kind), std::string(type), std::move(bytes)}, artifact.manifest, facts.epoch, store);
    artifact.image.referrers.push_back(referrer_descriptor(attachment, store));
    artifact.record.attachments.push_back(std::move(attachment));
  };
  const Digest& report = artifact.record.evidence.report;
  add("spdx", sbom::kSpdxType, to_spdx(bill));
  add("cyclonedx", sbom::kCycloneDxType, to_cyclonedx(bill));
  add("provenance", sbom::kProvenanceType,
      sbom::to_provenance({spec, plan, origin, artifact.manifest.digest, report, facts.epoch, facts.builder,
                           facts.tool, facts.flag_table}));
  if (!report.empty()) add("evidence", kEvidenceType, store.read(report, kMostReport));
  return artifact;
}

std::optional<std::string> read_referrer(SourceImage& image, const std::string& kind) {
  for (const SourceImage::Referrer& referrer : image.referrers())
    for (const Descriptor& layer : referrer.layers) {
      if (layer.media_type != media_type_of(kind)) continue;
      std::string document = image.attached(layer);
      if (kind != "provenance" || is_provenance(document)) return document;
    }
  return std::nullopt;
}

std::string referrers_text(SourceImage& image, const std::string& name) {
  std::set<std::string> types;
  for (const SourceImage::Referrer& referrer : image.referrers()) types.insert(referrer.type);
  std::string whose = fmt::format("of {} in {}", image.digest().text(), name);
  if (types.empty()) return fmt::format("there are no referrers {}", whose);
  return fmt::format("the referrers {} are {}", whose, fmt::join(types, ", "));
}

std::string make_bill(const SourceImage& image, const std::string& name, const std::string& format,
                      std::int64_t epoch, const std::string& tool) {
  sbom::Bill bill;
  bill.name = name;
  bill.version = image.digest().text();
  bill.identity = image.digest().hex();
  bill.created = epoch;
  bill.tool = tool;
  bill.inventory = sbom::read_inventory(image);
  return format == "spdx" ? sbom::to_spdx(bill) : sbom::to_cyclonedx(bill);
}

}  // namespace kiln
