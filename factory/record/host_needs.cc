#include "factory/record/host_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "factory/base/json_fields.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

struct Member {
  std::string_view name;
  std::string_view family;
};

// HPC-X is left out: its version is not that of the Open MPI in it.
constexpr Member kMembers[] = {{"mpich", "mpich"},    {"intel-mpi", "mpich"},       {"cray-mpich", "mpich"},
                               {"mvapich2", "mpich"}, {"parastation-mpi", "mpich"}, {"openmpi", "openmpi"}};

}  // namespace

MpiLibrary mpi_library(std::string_view text) {
  const std::size_t at = text.find('@');
  MpiLibrary library{std::string(text.substr(0, at)), {}};
  if (at != std::string_view::npos) library.version = Version(std::string(text.substr(at + 1)));
  return library;
}

std::string_view mpi_family(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMembers), std::end(kMembers),
                                   [&](const Member& member) { return member.name == name; });
  return found == std::end(kMembers) ? "" : found->family;
}

const std::vector<std::string>& mpi_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Member& member : kMembers) all.emplace_back(member.name);
    return all;
  }();
  return names;
}

bool HostNeeds::empty() const {
  return driver.text().empty() && cuda.text().empty() && kernel.text().empty() && glibc.text().empty() &&
         mpi.name.empty() && vendor.empty() && transparent_hugepages.empty();
}

Version kernel_floor(const Version& glibc, const std::string& architecture) {
  if (glibc.text().empty() || glibc < Version("2.26")) return {};
  if (architecture == "amd64") return Version("3.2");
  if (architecture == "arm64") return Version("3.7");
  if (architecture == "ppc64le") return Version("3.10");
  if (architecture == "riscv64") return Version("4.15");
  return {};
}

static Json to_json(const MpiLibrary& mpi) {
  return mpi.version.text().empty() ? mpi.name : mpi.name + "@" + mpi.version.text();
}

static MpiLibrary mpi_in(const JsonNode& node) {
  try {
    return mpi_library(node.line_of_text());
  } catch (const Error& error) {
    node.fail(error.message(), error.hint());
  }
}

template <typename Fields>
void describe(Fields& fields, HostNeeds& needs) {
  fields.refuse_others(needs);
  fields.may("driver", needs.driver, version_in);
  fields.may("cuda", needs.cuda, version_in);
  fields.may("kernel", needs.kernel, version_in);
  fields.may("glibc", needs.glibc, version_in);
  fields.when(!needs.mpi.name.empty(), "mpi", needs.mpi, mpi_in);
  fields.may("vendor", needs.vendor);
  fields.may("transparent_hugepages", needs.transparent_hugepages);
}

Json to_json(const HostNeeds& needs) { return fields_of(needs); }
HostNeeds host_needs_from_json(const JsonNode& node) { return read_as<HostNeeds>(node); }

std::map<std::string_view, std::string_view> embedded_cuda_drivers();

namespace {

using DriverTable = std::map<std::string, Version, std::less<>>;

DriverTable read_table(const JsonNode& node) {
  DriverTable table;
  for (const auto& [cuda, driver] : node.members()) table.emplace(cuda, Version(driver.string()));
  return table;
}

struct Drivers {
  DriverTable shipped;   // by "12.9"
  DriverTable families;  // by "12"
};

const Drivers& drivers() {
  static const Drivers read = [] {
    const JsonDocument document =
        JsonDocument::parse(embedded_cuda_drivers().at("cuda_drivers.json"), "cuda_drivers.json");
    return Drivers{read_table(document.root().at("shipped")), read_table(document.root().at("families"))};
  }();
  return read;
}

// The first `parts` numbers of a version: 12.9 of 12.9.1.
std::string_view leading(std::string_view text, int parts) {
  std::size_t end = 0;
  while (parts-- > 0 && end < text.size()) end = std::min(text.find('.', end + 1), text.size());
  return text.substr(0, end);
}

Version look_up(const DriverTable& table, std::string_view key) {
  auto found = table.find(key);
  return found == table.end() ? Version() : found->second;
}

}  // namespace

Version oldest_driver(const Version& cuda) {
  Version family = look_up(drivers().families, leading(cuda.text(), 1));
  return family.text().empty() ? shipped_driver(cuda) : family;
}

Version shipped_driver(const Version& cuda) { return look_up(drivers().shipped, leading(cuda.text(), 2)); }

}  // namespace kiln
