#include "registry/select/mappings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "registry/select/dsl_words.h"
#include "registry/select/query_clauses.h"

namespace kiln {
namespace {

Version version_of(const JsonNode& node, const WrittenNumbers& numbers) {
  const std::string text = scalar_text(node, numbers);
  return node.placed([&] {
    VersionRange::parse(text);  // refuses what is several versions, or a part of one
    return Version(text);
  });
}

constexpr const char* kAmd = "AuthenticAMD";

// archspec's family and, of `amd`, the vendor: all that a mapping says of the processor.
void read_cpu_type(const JsonNode& node, ImageRecord& record) {
  const std::string type = word_of(node, dsl_words().cpu_types, "cpu_type");
  record.cpu = family_of_type(type);
  if (type == "amd") record.needs.vendor = kAmd;
}

constexpr std::string_view kBehindScheme = "://";

// The scheme that a hub's word stands for. MODAK's alias of the hub `docker` is docker.io.
std::string scheme_of(const std::string& hub) { return hub == "docker.io" ? "docker" : hub; }

bool is_host(const std::string& hub) {
  return hub == "localhost" || (hub != "docker.io" && hub.find_first_of(".:/") != std::string::npos);
}

// A hub's word, or the host of a registry with what stands before its images; in small letters, "" for none.
std::string hub_of(const JsonNode& mapping) {
  auto node = present(mapping, "container_registry");
  std::string hub = node ? lower_case(node->line_of_text()) : "";
  while (hub.ends_with('/')) hub.pop_back();
  if (contains(hub, kBehindScheme) || contains(hub, ' '))
    node->fail(fmt::format("expected a hub or a registry's host, found '{}'", node->string()),
               "for example docker, library or images.example.org:5000");
  return hub;
}

// The name is the whole reference: then nothing else may say otherwise.
std::string whole_reference(const JsonNode& name_node, std::size_t scheme_end, const std::string& type,
                            const std::string& hub) {
  const std::string name = name_node.string();
  const std::string scheme = scheme_of(lower_case(name.substr(0, scheme_end)));
  const std::string& said = hub.empty() ? type : hub;
  if (!said.empty() && scheme_of(said) != scheme)
    name_node.fail(
        fmt::format("the name is of {}, and {} says {}", scheme,
                    hub.empty() ? "container_type" : "container_registry", said),
        fmt::format("write the name without '{}'", name.substr(0, scheme_end + kBehindScheme.size())));
  return scheme + name.substr(scheme_end);
}

// MODAK's hub is a word of its own (`docker`, `library`) that becomes the scheme; a registry's host name
// belongs to the image.
std::string reference_of(const JsonNode& node) {
  const JsonNode name_node = node.at("container_name");
  const std::string name = name_node.line_of_text();
  const std::size_t scheme_end = name.find(kBehindScheme);
  if (name.empty() || contains(name, ' ') || scheme_end == 0 || name.ends_with(kBehindScheme))
    name_node.fail("an image name is not empty and has no blanks");
  auto type_node = present(node, "container_type");
  const std::string type = type_node ? lower_case(type_node->name()) : "";
  const std::string hub = hub_of(node);
  if (scheme_end != std::string::npos) return whole_reference(name_node, scheme_end, type, hub);
  if (is_host(hub)) return fmt::format("{}://{}/{}", type.empty() ? "docker" : type, hub, name);
  if (!hub.empty()) return scheme_of(hub) + "://" + name;
  return (type.empty() ? "docker" : type) + "://" + name;
}

void read_target(const JsonNode& target, ImageRecord& record) {
  target.allow_only({"cpu_type", "acc_type"});
  if (auto cpu = present(target, "cpu_type")) read_cpu_type(*cpu, record);
  auto acc = present(target, "acc_type");
  std::string type = acc ? word_of(*acc, dsl_words().acc_types, "acc_type") : "";
  if (!type.empty() && type != "none") record.accelerators.push_back(type);
}

void read_selectors(const JsonNode& selectors, const std::vector<std::string>& compilers,
                    const WrittenNumbers& numbers, ImageRecord& record) {
  for (const auto& [key, value] : selectors.members()) {
    std::string word = lower_case(key);
    if (word == "version") {
      if (record.version.text().empty()) record.version = version_of(value, numbers);
    } else if (contains(compilers, word) || contains(dsl_words().graph_compilers, word)) {
      if (flag(value)) record.components.push_back({"compiler", word, {}, "", false});
    } else {
      record.selectors[word] = choice_text(value, numbers);
    }
  }
}

std::string cpu_type_of(const ImageRecord& external) {
  if (external.cpu == "x86_64") return external.needs.vendor == kAmd ? "amd" : "x86";
  if (external.cpu == "aarch64") return "arm";
  return external.cpu == "ppc64le" ? "power" : "";
}

// The MPI library that is inside: the image's own name, or that of its library, which the version is then of.
MpiLibrary mpi_of(const ImageRecord& mapping) {
  std::vector<std::string> names{lower_case(mapping.application)};
  for (const char* choice : {"library", "mpi"})
    if (auto named = mapping.selectors.find(choice); named != mapping.selectors.end())
      names.push_back(named->second);
  for (const std::string& name : names) {
    MpiLibrary library{name.substr(0, name.find('@')), {}};
    if (mpi_family(library.name).empty()) continue;
    return library.name == name ? MpiLibrary{name, mapping.version} : mpi_library(name);
  }
  return {};
}

// The label of an external image that holds members of its mapping as they were written, in JSON; null for
// one that kiln would write, and that was not there.
constexpr const char* kWritten = "io.kiln.mapping";

// As they were before they became text.
Json plain_value(const std::string& text) {
  return text == "true" || text == "false" ? Json(text == "true") : Json(text);
}

Json selectors_json(const ImageRecord& external) {
  Json selectors = Json::object();
  for (const ComponentRecord& component : external.components) selectors[component.name] = true;
  for (const auto& [choice, value] : external.selectors) selectors[choice] = plain_value(value);
  put(selectors, "version", external.version.text());
  return selectors;
}

// A mapping in kiln's words. MODAK's clients know the types docker and shub alone, and read the version among
// the selectors.
Json own_words(const ImageRecord& external) {
  const std::size_t colon = external.reference.find("://");
  const std::string scheme = external.reference.substr(0, colon);
  Json json{{"opt_dsl_code", external.code},
            {"app_name", external.application},
            {"enable_opt_build", external.optimised},
            {"container_name", external.reference.substr(std::min(colon + 3, external.reference.size()))},
            {"container_type", scheme == "docker" ? "docker" : "shub"},
            {"container_registry", scheme}};
  put(json, "version", external.version.text());
  Json target = Json::object();
  if (!external.accelerators.empty()) target["acc_type"] = external.accelerators.front();
  put(target, "cpu_type", cpu_type_of(external));
  json["target"] = std::move(target);
  put(json, "selectors", selectors_json(external));
  return json;
}

// A number that would lose a zero is its text.
Json with_zeros(const JsonNode& node, const WrittenNumbers& numbers) {
  Json value = node.value();
  const std::string inside = node.pointer() + "/";
  for (const auto& [pointer, written] : numbers)
    if (pointer.starts_with(inside))
      value[Json::json_pointer(pointer.substr(node.pointer().size()))] = written;
  return value;
}

// What kiln would write in other words than the mapping has.
void keep_words(const JsonNode& mapping, const WrittenNumbers& numbers, ImageRecord& record) {
  const Json own = own_words(record);
  Json differing = Json::object();
  for (const char* key : {"container_name", "container_type", "container_registry", "target", "selectors"})
    if (auto node = present(mapping, key)) {
      Json value = with_zeros(*node, numbers);
      if (own.value(key, Json()) != value) differing[key] = std::move(value);
    }
  if (own.contains("version") && !present(mapping, "version")) differing["version"] = nullptr;
  if (!differing.empty()) record.labels[kWritten] = differing.dump();
}

}  // namespace

Json mapping_json(const ImageRecord& external) {
  Json json = own_words(external);
  const auto written = external.labels.find(kWritten);
  if (written == external.labels.end()) return json;
  const Json words = Json::parse(written->second, nullptr, false);
  if (!words.is_object()) return json;
  json.update(words);
  for (const auto& [key, value] : words.items())
    if (value.is_null()) json.erase(key);
  return json;
}

ImageRecord read_mapping(const JsonNode& node, const std::vector<std::string>& compilers,
                         const WrittenNumbers& numbers) {
  node.allow_only({"opt_dsl_code", "app_name", "version", "enable_opt_build", "target", "selectors",
                   "container_name", "container_type", "container_registry"});
  ImageRecord record;
  JsonNode code = node.at("opt_dsl_code");
  record.code = code.line_of_text();
  if (record.code.empty()) code.fail("a code is not empty");
  record.application = node.at("app_name").line_of_text();
  if (auto version = node.find("version"); version && !version->is_null())
    record.version = version_of(*version, numbers);
  if (auto enabled = present(node, "enable_opt_build")) record.optimised = flag(*enabled);
  if (auto target = present(node, "target")) read_target(*target, record);
  if (auto selectors = present(node, "selectors")) read_selectors(*selectors, compilers, numbers, record);
  record.reference = reference_of(node);
  record.needs.mpi = mpi_of(record);
  keep_words(node, numbers, record);
  return record;
}

void read_mappings(const std::filesystem::path& file, const std::vector<std::string>& compilers,
                   const std::function<void(const ImageRecord& mapping)>& take) {
  read_json_rows(file, {}, [&](const JsonNode& row, std::string_view text) {
    take(read_mapping(row, compilers, written_numbers(text)));
  });
}

}  // namespace kiln
