#include "factory/record/host_needs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/record/record_fields.h"

namespace kiln {
namespace {

std::string mpi_text(const MpiLibrary& mpi) {
  return mpi.version.text().empty() ? mpi.name : mpi.name + "@" + mpi.version.text();
}

}  // namespace

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

Json to_json(const HostNeeds& needs) {
  Json json = Json::object();
  put(json, "driver", needs.driver.text());
  put(json, "cuda", needs.cuda.text());
  put(json, "kernel", needs.kernel.text());
  put(json, "glibc", needs.glibc.text());
  put(json, "mpi", mpi_text(needs.mpi));
  put(json, "vendor", needs.vendor);
  put(json, "transparent_hugepages", needs.transparent_hugepages);
  return json;
}

HostNeeds host_needs_from_json(const JsonNode& node) {
  node.allow_only({"driver", "cuda", "kernel", "glibc", "mpi", "vendor", "transparent_hugepages"});
  HostNeeds needs;
  needs.driver = version_at(node, "driver");
  needs.cuda = version_at(node, "cuda");
  needs.kernel = version_at(node, "kernel");
  needs.glibc = version_at(node, "glibc");
  if (auto mpi = node.find("mpi")) {
    try {
      needs.mpi = mpi_library(mpi->line_of_text());
    } catch (const Error& error) {
      mpi->fail(error.message(), error.hint());
    }
  }
  needs.vendor = text_at(node, "vendor");
  needs.transparent_hugepages = text_at(node, "transparent_hugepages");
  return needs;
}

}  // namespace kiln
