#include "factory/record/image_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json_fields.h"
#include "factory/base/text.h"
#include "factory/record/record_fields.h"

namespace kiln {
template <typename Fields>
void describe(Fields& fields, ComponentRecord& component) {
  fields.refuse_others(component);
  fields.must("kind", component.kind, &JsonNode::name);
  fields.must("name", component.name, &JsonNode::name);
  fields.may("version", component.version, version_in);
  fields.may("method", component.method);
  fields.may("optimised", component.optimised);
  fields.may("role", component.role);
}

template <typename Fields>
void describe(Fields& fields, Attachment& attachment) {
  fields.refuse_others(attachment);
  fields.must("kind", attachment.kind, &JsonNode::name);
  fields.must("blob", attachment.blob, descriptor_from_json);
  fields.may("referrer", attachment.referrer, digest_in);
}

template <typename Fields>
void describe(Fields& fields, PublishedRecord& published) {
  fields.refuse_others(published);
  fields.must("registry", published.registry, &JsonNode::line_of_text);
  fields.may("sif", published.sif, digest_in);
}

template <typename Fields>
void describe(Fields& fields, AcceptedRecord& accepted) {
  fields.when(true, "file", accepted.file);
  fields.when(true, "reason", accepted.reason);
  fields.when(true, "by", accepted.by);
}

template <typename Fields>
void describe(Fields& fields, EvidenceRecord& evidence) {
  fields.refuse_others(evidence);
  fields.must("verdict", evidence.verdict, &JsonNode::line_of_text);
  fields.may("target", evidence.target);
  fields.may("flags", evidence.flags);
  fields.may("unconditional", evidence.unconditional);
  fields.may("dispatched", evidence.dispatched);
  fields.may("gpu", evidence.gpu);
  fields.may("gpu_hidden", evidence.gpu_hidden);
  fields.may("glibc", evidence.glibc);
  fields.may("glibc_provided", evidence.glibc_provided);
  fields.may("missing", evidence.missing);
  fields.may("beyond_target", evidence.beyond_target);
  fields.may("exceeding", evidence.exceeding);
  fields.may("accepted", evidence.accepted);
  fields.may("shown_by", evidence.shown_by);
  fields.may("report", evidence.report, digest_in);
}

template <typename Fields>
void describe(Fields& fields, ImageRecord& record) {
  fields.refuse_others(record);
  fields.may("manifest", record.manifest, digest_in);
  fields.may("reference", record.reference);
  fields.may("code", record.code);
  fields.may("repository", record.repository);
  fields.may("tag", record.tag);
  fields.may("immutable_tag", record.immutable_tag);
  fields.may("key", record.key);
  fields.may("cell", record.cell);
  fields.may("application", record.application);
  fields.may("version", record.version, version_in);
  fields.may("method", record.method);
  fields.when(true, "optimised", record.optimised);
  fields.may("components", record.components);
  fields.may("cpu", record.cpu);
  fields.may("accelerators", record.accelerators);
  fields.may("selectors", record.selectors);
  fields.may("labels", record.labels);
  fields.may("requires", record.needs, host_needs_from_json);
  fields.may("facts", record.facts);
  fields.may("size", record.size);
  fields.may("layout", record.layout);
  fields.may("created", record.created);
  fields.may("evidence", record.evidence);
  fields.may("tests", record.tests, tests_record_from_json);
  fields.may("attachments", record.attachments);
  fields.when(!record.published.registry.empty(), "published", record.published);
}

static double ratio_in(const JsonNode& node) {
  const double value = node.number();
  if (!(value > 0)) node.fail("a ratio is greater than 0");
  return value;
}

template <typename Fields>
void describe(Fields& fields, MeasuredGain& gain) {
  fields.refuse_others(gain);
  fields.when(true, "key", gain.key);
  fields.must("ratio", gain.ratio, ratio_in);
  fields.must("low", gain.low, ratio_in);
  fields.must("high", gain.high, ratio_in);
}

static double median_in(const JsonNode& node) {
  const double value = node.number();
  if (value <= 0) node.fail("a measured median is greater than 0");
  return value;
}

template <typename Fields>
void describe(Fields& fields, Measurement& measurement) {
  fields.refuse_others(measurement);
  fields.must("image", measurement.image, digest_in);
  fields.may("key", measurement.key);
  fields.must("workload", measurement.workload, &JsonNode::name);
  fields.must("unit", measurement.unit, &JsonNode::line_of_text);
  fields.must("median", measurement.median, median_in);
  fields.must("low", measurement.low);
  fields.must("high", measurement.high);
  fields.when(true, "samples", measurement.samples);
  fields.when(measurement.busy > 0, "busy", measurement.busy);
  fields.must("host", measurement.host, host_from_json);
  fields.when(true, "taken", measurement.taken);
  fields.may("session", measurement.session);
  fields.may("workload_files", measurement.workload_files);
  fields.may("rounds", measurement.rounds);
  fields.may("gains", measurement.gains);
  fields.may("withdrawn", measurement.withdrawn);
  fields.may("stock", measurement.stock);
  fields.may("over_stock", measurement.over_stock);
}

Json to_json(const EvidenceRecord& evidence) { return fields_of(evidence); }
Json to_json(const ImageRecord& record) { return fields_of(record); }
Json to_json(const Measurement& measurement) { return fields_of(measurement); }
EvidenceRecord evidence_record_from_json(const JsonNode& node) { return read_as<EvidenceRecord>(node); }
ImageRecord image_record_from_json(const JsonNode& node) { return read_as<ImageRecord>(node); }
Measurement measurement_from_json(const JsonNode& node) { return read_as<Measurement>(node); }

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
