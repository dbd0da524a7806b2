// Package databases from anybody: each reader gives packages with names, or refuses with Error(input). The
// first byte chooses the reader.
#include "factory/sbom/databases.h"
#include "readers.h"

namespace {

using namespace kiln;
using namespace kiln::sbom;

void check(const std::vector<Package>& packages) {
  for (const Package& package : packages) {
    if (package.name.empty() || package.version.empty()) __builtin_trap();
    if (!package_url(package, {"debian", "12", ""}).starts_with("pkg:")) __builtin_trap();
  }
}

// What is read of a licence is an expression, and reading it again changes nothing.
void check_license(const License& license) {
  for (const auto& [reference, text] : license.extracted)
    if (!reference.starts_with("LicenseRef-") || license.expression.find(reference) == std::string::npos)
      __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  std::string_view text = fuzz::text_of(bytes + 1, size - 1);
  return fuzz::refuses_or_reads([&] {
    switch (bytes[0] % 8) {
      case 0:
        return check(read_dpkg_status(text));
      case 1:
        return check_license(read_debian_copyright(text));
      case 2:
        return check(read_apk_installed(text));
      case 3:
        return check(read_rpm_database(text));
      case 4:
        return check({read_rpm_header(text)});
      case 5:
        return check({read_python_metadata(text.substr(0, text.size() / 2), text.substr(text.size() / 2))});
      case 6:
        return check({read_conda_package(text)});
      default:
        return check_license(read_license(text));
    }
  });
}
