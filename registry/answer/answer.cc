#include "registry/answer/answer.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "factory/recipe/target.h"
#include "factory/record/gpu_code.h"
#include "factory/record/host_description.h"
#include "factory/record/image_blobs.h"
#include "registry/model/kept_model.h"
#include "registry/select/best_image.h"
#include "registry/select/query_clauses.h"

namespace kiln {
namespace {

Applications other_applications(const Index& index, const Question& question) {
  Applications others = index.applications(question.terms.snapshot);
  others.erase(lower_case(question.reading.query.application));
  return others;
}

// Where there is not even a miss.
std::string without_images(const Answer& answer, const Question& question, const std::string& when_empty) {
  if (answer.others.empty()) return when_empty;
  std::vector<std::string> names;
  for (const auto& [application, count] : answer.others) names.push_back(application);
  const std::string& asked = question.reading.query.application;
  const std::string near = did_you_mean(asked, names);
  return fmt::format("the index has no image of {}{}{}", asked, near.empty() ? "" : "; ", near);
}

constexpr JsonLimits kModelLimits{.bytes = 64u << 20, .members = 5'000'000};

// Only a question about a workload on a known host reads the model.
Predictions predictions_for(const Index& index, const Question& question) {
  const std::string& workload = question.reading.query.workload;
  if (workload.empty() || !question.host.host.known) return {};
  const auto text = index.model();
  if (!text) return {};
  const auto model = std::make_shared<const KeptModel>(
      JsonDocument::parse(*text, "snapshots/model.json", kModelLimits).root());
  auto of = [model, workload, host = question.host.host.description](
                const ImageRecord& image) -> std::optional<PredictedSpeed> {
    SpeedPrediction found = model->predict(image, host, workload);
    if (!found.no_data.empty()) return std::nullopt;
    return PredictedSpeed{found.seconds, found.low, found.high, std::move(found.reasons)};
  };
  return {std::move(of), workload, model->check_text()};
}

}  // namespace

Question read_question(const JsonDocument& document, const GraphCompilers& compilers,
                       const QuestionTerms& terms, const WrittenNumbers& numbers) {
  Question question{read_dsl(document, compilers.names, numbers), terms};
  if (!terms.lenient) refuse_lost_choices(question.reading);
  ImageQuery& query = question.reading.query;
  if (!terms.format.empty()) query.format = terms.format;
  query.allow_failing = terms.allow_failing;
  query.strict_gains = terms.strict_gains;
  const auto stock = compilers.stock.find(lower_case(query.application));
  if (stock != compilers.stock.end()) query.stock_compilers = stock->second;
  return question;
}

Answer ask(const Index* index, const Question& question, bool explained, const Microarchitectures& cpus,
           const FindBest& find_best) {
  const ImageQuery& query = question.reading.query;
  const Host& host = question.host.host;
  Answer answer;
  const Predictions predictions = index == nullptr ? Predictions{} : predictions_for(*index, question);
  if (index != nullptr && !predictions.of && !explained && !question.terms.snapshot) {
    if (find_best) {
      answer.found = find_best(*index, query, host);
    } else if (auto best = best_image(*index, query, host, cpus)) {
      answer.found = std::make_shared<const IndexEntry>(*std::move(best));
    }
    if (answer.found) {
      answer.selection.winner = Candidate{answer.found.get(), "", 0, nullptr, false, false};
      return answer;
    }
  }
  if (index != nullptr) {
    answer.entries = index->entries_of(query.application, question.terms.snapshot);
    answer.others = other_applications(*index, question);
  }
  answer.selection = select_image(query, answer.entries, host, cpus, predictions);
  if (answer.selection.winner && !explained) {
    answer.selection.reasons.clear();
    answer.selection.others.clear();
  }
  return answer;
}

Json to_json(const Answer& answer, const Question& question, std::size_t limit) {
  Json json = to_json(answer.selection, limit);
  json["other_applications"] = answer.others;
  json["notes"] = Json::array();
  for (const DslNote& note : question.reading.notes) json["notes"].push_back(text_of(note));
  return json;
}

std::string text_of(const Applications& others) {
  std::size_t images = 0;
  std::string names;
  for (const auto& [application, count] : others) {
    images += count;
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", application.empty() ? "(none)" : application,
                         count);
  }
  return images == 0 ? "" : fmt::format("{} of other applications: {}\n", counted(images, "image"), names);
}

Error no_match(const Answer& answer, const Question& question, const std::string& more,
               const std::string& when_empty) {
  const Selection& selection = answer.selection;
  std::string why =
      selection.nearest_miss.empty() ? without_images(answer, question, when_empty) : selection.nearest_miss;
  if (question.host.here && selection.host_refuses) why += "; the host is this machine, --host names another";
  if (!more.empty()) why += "; " + more;
  return {ExitCode::no_match, "no image matches", why};
}

std::optional<Demand> demand_of(const Question& question, const Selection& selection,
                                const Microarchitectures& cpus, std::string day) {
  if (question.terms.snapshot) return std::nullopt;
  return demand_of(question.reading.query, question.host.host, selection, cpus, std::move(day));
}

Json entry_json(const IndexEntry& entry) {
  Json json = to_json(entry.image);
  json["name"] = entry.image.name();
  json["stale"] = entry.stale;
  if (entry.failing) json["failing"] = true;
  if (!entry.retired.empty()) json["retired"] = entry.retired;
  if (std::string why = entry.image.why_untested(); !why.empty()) json["untested"] = why;
  if (!entry.matrices.empty()) json["matrices"] = entry.matrices;
  json["measurements"] = Json::array();
  for (const Measurement& measurement : entry.measurements)
    json["measurements"].push_back(to_json(measurement));
  return json;
}

Json entries_json(const std::vector<IndexEntry>& entries) {
  Json list = Json::array();
  for (const IndexEntry& entry : entries) list.push_back(entry_json(entry));
  return list;
}

Json snapshots_json(const std::vector<Snapshot>& snapshots) {
  Json list = Json::array();
  for (const Snapshot& snapshot : snapshots) {
    list.push_back({{"number", snapshot.number},
                    {"created", snapshot.created},
                    {"images", snapshot.images},
                    {"note", snapshot.note},
                    {"current", snapshot.current}});
    if (snapshot.held) list.back()["held"] = true;
  }
  return list;
}

namespace {

Host known(HostDescription description) { return {std::move(description), true}; }

// Vendors that may stand alone in a name: another word there is a misspelt one.
bool names_accelerator(std::string_view text) {
  const std::string vendor = split_accelerator(text).first;
  return is_host_accelerator(text) &&
         (vendor == "nvidia" || vendor == "amd" || vendor == "intel" || vendor == "fpga");
}

// A target, and after commas the accelerators that a description may have as well.
Host host_of_target(const std::string& name, const SourceLocation& where, const HostBook& book) {
  const std::vector<std::string_view> parts = split(name, ',');
  const Target target =
      TargetBook::read(book.files, book.targets, book.cpus).get(parts.empty() ? "" : parts.front(), where);
  HostDescription host;
  host.cpu = target.cpu;
  host.accelerators = target.accelerators;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!names_accelerator(parts[i]))
      throw Error(ExitCode::input, where, fmt::format("expected an accelerator, found '{}'", parts[i]),
                  "such as nvidia:sm_80, amd:gfx90a, or nvidia where the GPU is not known");
    host.accelerators.emplace_back(parts[i]);
  }
  return known(std::move(host));
}

// nullopt: it is a site's name for machines that nobody described here. What is wrong in a description, or in
// a composition (zen4,nvidia:sm_90), is an error.
std::optional<Host> host_of_site_name(const JsonNode& target, const HostBook& book) {
  const std::string name = target.string();
  try {
    return host_of_target(name, target.where(), book);
  } catch (const Error& error) {
    if (error.where() != target.where() || contains(name, ',')) throw;
    return std::nullopt;
  }
}

// `why`: the document's own host is not known; "" when it names none.
QuestionHost unsaid_host(const std::string& why, const ImageQuery& query, UnsaidHost unsaid,
                         const HostBook& book) {
  if (unsaid == UnsaidHost::any)
    return {{}, false, why.empty() ? "" : why + ": no host is taken into account"};
  Host here = known(detect_host(book.files, book.cpus));
  const std::string without = what_it_lacks(here.description, query, book.cpus);
  if (without.empty()) return {std::move(here), true, why.empty() ? "" : why + ": this machine is the host"};
  return {
      {},
      false,
      fmt::format("{}this machine {}: no host is taken into account; --host names one, --host here insists",
                  why.empty() ? "" : why + ", and ", without)};
}

}  // namespace

QuestionHost described_host(const JsonDocument& document, const HostBook& book) {
  return {known(read_host(document.root(), book.cpus))};
}

QuestionHost named_host(const std::string& name, const SourceLocation& where, const HostBook& book) {
  if (name == "any") return {};
  if (name == "here") return {known(detect_host(book.files, book.cpus))};
  return {host_of_target(name, where, book)};
}

QuestionHost host_of_question(const ImageQuery& query, UnsaidHost unsaid, const HostBook& book) {
  if (query.host) return {known(read_host(*query.host, book.cpus))};
  if (!query.target) return unsaid_host("", query, unsaid, book);
  if (auto host = host_of_site_name(*query.target, book)) return {*std::move(host)};
  return unsaid_host(fmt::format("the document is for target '{}', which matrix/targets does not have",
                                 query.target->string()),
                     query, unsaid, book);
}

namespace fs = std::filesystem;
namespace {

std::string digest_reference(const ImageRecord& image) {
  if (!image.published.registry.empty()) return image.registry_digest();
  throw Error(ExitCode::no_match, image.name() + " is in no registry",
              "`kiln publish --to` puts it there; --format oci names its layout here");
}

std::string sif_reference(const ImageRecord& image, const ReferencePaths& paths) {
  const Attachment* sif = image.attachment("sif");
  const bool is_here = sif != nullptr && fs::exists(stored_sif(image, paths));
  if (!is_here && !image.registry_sif().empty()) return image.registry_sif();
  const fs::path file =
      paths.sif_folder.empty() ? sif_path(paths.state, image) : paths.sif_folder / image.sif_name();
  check_sif(paths.state, image, file);
  return file.string();
}

}  // namespace

std::string stored_sif(const ImageRecord& image, const ReferencePaths& paths) {
  return BlobStore::reading(paths.state / "store").path(image.attachment("sif")->blob.digest).string();
}

bool is_reference_format(std::string_view word) {
  return word == "tag" || word == "digest" || word == "oci" || word == "sif";
}

std::string reference_of(const ImageRecord& image, const std::string& format, const ReferencePaths& paths) {
  if (image.external()) return image.name();
  if (format == "oci") {
    check_layout(paths.state, image);
    return fmt::format("oci:{}:{}", (paths.state / image.layout).string(), image.tag);
  }
  if (format == "digest") return digest_reference(image);
  if (format == "sif") return sif_reference(image, paths);
  if (!image.published.registry.empty()) return image.registry_tag();
  check_blobs(paths.state, image);
  return image.name();
}

}  // namespace kiln
