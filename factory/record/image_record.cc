#include "factory/record/image_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

Json to_json(const ComponentRecord& component) {
  Json json = {{"kind", component.kind}, {"name", component.name}};
  put(json, "version", component.version.text());
  put(json, "method", component.method);
  if (component.optimised) json["optimised"] = true;
  put(json, "role", component.role);
  return json;
}

ComponentRecord component_from_json(const JsonNode& node) {
  node.allow_only({"kind", "name", "version", "method", "optimised", "role"});
  return {node.at("kind").name(),  node.at("name").name(),     version_at(node, "version"),
          text_at(node, "method"), flag_at(node, "optimised"), text_at(node, "role")};
}

Json to_json(const Attachment& attachment) {
  Json json{{"kind", attachment.kind}, {"blob", to_json(attachment.blob)}};
  put(json, "referrer", attachment.referrer.text());
  return json;
}

Json to_json(const PublishedRecord& published) {
  Json json = {{"registry", published.registry}};
  put(json, "sif", published.sif.text());
  return json;
}

PublishedRecord published_from_json(const JsonNode& node) {
  node.allow_only({"registry", "sif"});
  return {node.at("registry").line_of_text(), digest_at(node, "sif")};
}

Attachment attachment_from_json(const JsonNode& node) {
  node.allow_only({"kind", "blob", "referrer"});
  return {node.at("kind").name(), descriptor_from_json(node.at("blob")), digest_at(node, "referrer")};
}

}  // namespace

const Attachment* ImageRecord::attachment(std::string_view kind) const {
  auto found = std::find_if(attachments.begin(), attachments.end(),
                            [&](const Attachment& candidate) { return candidate.kind == kind; });
  return found == attachments.end() ? nullptr : &*found;
}

std::string ImageRecord::registry_tag() const {
  return fmt::format("docker://{}/{}:{}", published.registry, repository, tag);
}

std::string ImageRecord::registry_digest() const {
  return fmt::format("docker://{}/{}@{}", published.registry, repository, manifest.text());
}

std::string ImageRecord::registry_sif() const {
  if (published.registry.empty() || published.sif.empty()) return "";
  return fmt::format("oras://{}/{}@{}", published.registry, repository, published.sif.text());
}

std::string ImageRecord::name() const { return external() ? reference : repository + ":" + tag; }

std::string ImageRecord::why_untested() const {
  if (external()) return "a mapping: it was neither built nor tested here";
  return tests ? tests->why_untested() : "";
}

std::string ImageRecord::sif_name() const { return repository + "_" + tag + ".sif"; }

std::string ImageRecord::bits() const {
  if (external()) return Digest::of(reference).hex();
  return key.empty() ? manifest.hex() : key;
}

Digest ImageRecord::identity() const { return external() ? Digest::of(to_json(*this).dump()) : manifest; }

std::string doubt_about(const Measurement& measurement) {
  constexpr double kSpread = 0.1;  // of the median, between the quartiles
  constexpr double kPart = 0.05;   // of the processors
  std::vector<std::string> doubts;
  const double spread = (measurement.high - measurement.low) / measurement.median;
  if (spread > kSpread) doubts.push_back(fmt::format("quartiles {:.0f} % apart", 100 * spread));
  if (measurement.busy > std::max(0.5, kPart * measurement.host.cores))
    doubts.push_back(fmt::format("{:.1f} of {} processors busy with other work", measurement.busy,
                                 measurement.host.cores));
  return fmt::format("{}", fmt::join(doubts, ", "));
}

MeasuredGain inverse(const MeasuredGain& gain, const std::string& key) {
  return {key, 1 / gain.ratio, 1 / gain.high, 1 / gain.low};
}

bool is_yardstick(const Measurement& measurement) {
  return measurement.stock && measurement.rounds >= kProvingRounds;
}

StockGain stock_gain(const Measurement& measurement) {
  if (!measurement.over_stock || measurement.rounds < kProvingRounds) return StockGain::not_measured;
  if (measurement.over_stock->low > 1) return StockGain::proven;
  return measurement.over_stock->high < 1 ? StockGain::slower : StockGain::no_gain;
}

std::string_view stock_gain_word(StockGain gain) {
  switch (gain) {
    case StockGain::proven:
      return "proven";
    case StockGain::no_gain:
      return "no gain";
    case StockGain::slower:
      return "slower";
    case StockGain::not_measured:
      break;
  }
  return "not measured";
}

std::string gain_text(const MeasuredGain& gain, std::string_view against) {
  const std::string interval = fmt::format("({:.2f} to {:.2f})", gain.low, gain.high);
  if (!gain.different())
    return fmt::format("no difference {}{}{}", against.empty() ? "" : "to ", against,
                       (against.empty() ? "" : " ") + interval);
  return fmt::format("{:.2f} times as fast {}{}{}", gain.ratio, against.empty() ? "" : "as ", against,
                     (against.empty() ? "" : " ") + interval);
}

std::string speed_text(const Measurement& measurement) {
  const std::string doubt = doubt_about(measurement);
  return fmt::format("{:.1f} {}, quartiles {:.1f} to {:.1f}{}", measurement.median, measurement.unit,
                     measurement.low, measurement.high, doubt.empty() ? "" : "; doubtful: " + doubt);
}

Json to_json(const EvidenceRecord& evidence) {
  Json json{{"verdict", evidence.verdict}};
  put(json, "target", evidence.target);
  put(json, "flags", evidence.flags);
  put(json, "unconditional", evidence.unconditional);
  put(json, "dispatched", evidence.dispatched);
  put(json, "gpu", evidence.gpu);
  if (evidence.gpu_hidden) json["gpu_hidden"] = true;
  put(json, "glibc", evidence.glibc);
  put(json, "glibc_provided", evidence.glibc_provided);
  put(json, "missing", evidence.missing);
  if (evidence.beyond_target != 0) json["beyond_target"] = evidence.beyond_target;
  put(json, "exceeding", evidence.exceeding);
  for (const AcceptedRecord& accepted : evidence.accepted)
    json["accepted"].push_back({{"file", accepted.file}, {"reason", accepted.reason}, {"by", accepted.by}});
  put(json, "shown_by", evidence.shown_by);
  put(json, "report", evidence.report.text());
  return json;
}

Json to_json(const ImageRecord& record) {
  Json json = Json::object();
  put(json, "manifest", record.manifest.text());
  put(json, "reference", record.reference);
  put(json, "code", record.code);
  put(json, "repository", record.repository);
  put(json, "tag", record.tag);
  put(json, "immutable_tag", record.immutable_tag);
  put(json, "key", record.key);
  put(json, "cell", record.cell);
  put(json, "application", record.application);
  put(json, "version", record.version.text());
  put(json, "method", record.method);
  json["optimised"] = record.optimised;
  Json components = Json::array();
  for (const auto& component : record.components) components.push_back(to_json(component));
  put(json, "components", components);
  put(json, "cpu", record.cpu);
  put(json, "accelerators", record.accelerators);
  put(json, "selectors", record.selectors);
  put(json, "labels", record.labels);
  if (!record.needs.empty()) json["requires"] = to_json(record.needs);
  put(json, "facts", record.facts);
  if (record.size != 0) json["size"] = record.size;
  put(json, "layout", record.layout);
  put(json, "created", record.created);
  if (!record.evidence.empty()) json["evidence"] = to_json(record.evidence);
  if (record.tests) json["tests"] = to_json(*record.tests);
  Json attachments = Json::array();
  for (const auto& attachment : record.attachments) attachments.push_back(to_json(attachment));
  put(json, "attachments", attachments);
  if (!record.published.registry.empty()) json["published"] = to_json(record.published);
  return json;
}

namespace {

Json to_json(const MeasuredGain& gain) {
  return {{"key", gain.key}, {"ratio", gain.ratio}, {"low", gain.low}, {"high", gain.high}};
}

double ratio_at(const JsonNode& node, std::string_view key) {
  const double value = node.at(key).number();
  if (!(value > 0)) node.at(key).fail("a ratio is greater than 0");
  return value;
}

MeasuredGain gain_from_json(const JsonNode& node) {
  node.allow_only({"key", "ratio", "low", "high"});
  return {text_at(node, "key"), ratio_at(node, "ratio"), ratio_at(node, "low"), ratio_at(node, "high")};
}

}  // namespace

Json to_json(const Measurement& measurement) {
  Json json = {{"image", measurement.image.text()},
               {"workload", measurement.workload},
               {"unit", measurement.unit},
               {"median", measurement.median},
               {"low", measurement.low},
               {"high", measurement.high},
               {"samples", measurement.samples},
               {"host", to_json(measurement.host)},
               {"taken", measurement.taken}};
  put(json, "key", measurement.key);
  if (measurement.busy > 0) json["busy"] = measurement.busy;
  put(json, "session", measurement.session);
  put(json, "workload_files", measurement.workload_files);
  if (measurement.rounds > 0) json["rounds"] = measurement.rounds;
  Json gains = Json::array();
  for (const MeasuredGain& gain : measurement.gains) gains.push_back(to_json(gain));
  put(json, "gains", gains);
  if (measurement.withdrawn) json["withdrawn"] = true;
  if (measurement.stock) json["stock"] = true;
  if (measurement.over_stock) json["over_stock"] = to_json(*measurement.over_stock);
  return json;
}

EvidenceRecord evidence_record_from_json(const JsonNode& node) {
  node.allow_only({"verdict", "target", "flags", "unconditional", "dispatched", "gpu", "gpu_hidden", "glibc",
                   "glibc_provided", "missing", "beyond_target", "exceeding", "accepted", "shown_by",
                   "report"});
  EvidenceRecord evidence;
  evidence.verdict = node.at("verdict").line_of_text();
  evidence.target = text_at(node, "target");
  evidence.flags = strings_at(node, "flags");
  evidence.unconditional = strings_at(node, "unconditional");
  evidence.dispatched = strings_at(node, "dispatched");
  evidence.gpu = strings_at(node, "gpu");
  evidence.gpu_hidden = flag_at(node, "gpu_hidden");
  evidence.glibc = text_at(node, "glibc");
  evidence.glibc_provided = text_at(node, "glibc_provided");
  evidence.missing = strings_at(node, "missing");
  evidence.beyond_target = count_at(node, "beyond_target");
  evidence.exceeding = strings_at(node, "exceeding");
  if (auto list = node.find("accepted"))
    for (const JsonNode& item : list->items())
      evidence.accepted.push_back({text_at(item, "file"), text_at(item, "reason"), text_at(item, "by")});
  evidence.shown_by = map_at(node, "shown_by");
  evidence.report = digest_at(node, "report");
  return evidence;
}

ImageRecord image_record_from_json(const JsonNode& node) {
  node.allow_only({"manifest",   "reference", "code",         "repository",  "tag",      "immutable_tag",
                   "key",        "cell",      "application",  "version",     "method",   "optimised",
                   "components", "cpu",       "accelerators", "selectors",   "labels",   "size",
                   "layout",     "created",   "evidence",     "attachments", "requires", "facts",
                   "tests",      "published"});
  ImageRecord record;
  record.manifest = digest_at(node, "manifest");
  record.reference = text_at(node, "reference");
  record.code = text_at(node, "code");
  record.repository = text_at(node, "repository");
  record.tag = text_at(node, "tag");
  record.immutable_tag = text_at(node, "immutable_tag");
  record.key = text_at(node, "key");
  record.cell = text_at(node, "cell");
  record.application = text_at(node, "application");
  record.version = version_at(node, "version");
  record.method = text_at(node, "method");
  record.optimised = flag_at(node, "optimised");
  if (auto components = node.find("components")) {
    for (const auto& component : components->items())
      record.components.push_back(component_from_json(component));
  }
  record.cpu = text_at(node, "cpu");
  record.accelerators = strings_at(node, "accelerators");
  record.selectors = map_at(node, "selectors");
  record.labels = map_at(node, "labels");
  if (auto needs = node.find("requires")) record.needs = host_needs_from_json(*needs);
  record.facts = map_at(node, "facts");
  record.size = count_at(node, "size");
  record.layout = text_at(node, "layout");
  record.created = text_at(node, "created");
  if (auto evidence = node.find("evidence")) record.evidence = evidence_record_from_json(*evidence);
  if (auto tests = node.find("tests")) record.tests = tests_record_from_json(*tests);
  if (auto attachments = node.find("attachments")) {
    for (const auto& attachment : attachments->items())
      record.attachments.push_back(attachment_from_json(attachment));
  }
  if (auto published = node.find("published")) record.published = published_from_json(*published);
  return record;
}

Measurement measurement_from_json(const JsonNode& node) {
  node.allow_only({"image", "key", "workload", "unit", "median", "low", "high", "samples", "busy", "host",
                   "taken", "session", "workload_files", "rounds", "gains", "withdrawn", "stock",
                   "over_stock"});
  Measurement measurement;
  node.at("image");
  measurement.image = digest_at(node, "image");
  measurement.workload = node.at("workload").name();
  measurement.unit = node.at("unit").line_of_text();
  measurement.median = node.at("median").number();
  if (measurement.median <= 0) node.at("median").fail("a measured median is greater than 0");
  measurement.low = node.at("low").number();
  measurement.high = node.at("high").number();
  measurement.key = text_at(node, "key");
  measurement.samples = small_count_at(node, "samples");
  if (auto busy = node.find("busy")) measurement.busy = busy->number();
  measurement.host = host_from_json(node.at("host"));
  measurement.taken = text_at(node, "taken");
  measurement.session = text_at(node, "session");
  measurement.workload_files = text_at(node, "workload_files");
  measurement.rounds = small_count_at(node, "rounds");
  if (auto gains = node.find("gains"))
    for (const JsonNode& gain : gains->items()) measurement.gains.push_back(gain_from_json(gain));
  measurement.withdrawn = flag_at(node, "withdrawn");
  measurement.stock = flag_at(node, "stock");
  if (auto gain = node.find("over_stock")) measurement.over_stock = gain_from_json(*gain);
  return measurement;
}

void DistinctNames::add(const ImageRecord& image) {
  if (image.external() && !once_.insert(image.reference).second) again_.insert(image.reference);
}

std::string DistinctNames::operator()(const ImageRecord& image) const {
  return again_.contains(image.reference) ? fmt::format("{} ({})", image.name(), image.code) : image.name();
}

std::string python_module_of(std::string_view application) {
  std::string name = lower_case(application);
  if (name == "pytorch") return "torch";
  if (name == "scikit-learn") return "sklearn";
  for (const std::string_view same : {"tensorflow", "jax", "mxnet", "keras", "onnxruntime", "cntk"})
    if (name == same) return name;
  return "";
}

}  // namespace kiln
