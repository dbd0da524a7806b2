#include <fmt/format.h>

#include <algorithm>

#include "factory/base/error.h"
#include "factory/sbom/databases.h"

namespace kiln::sbom {
namespace {

constexpr std::pair<char, std::string Package::*> kTexts[] = {{'P', &Package::name},
                                                              {'V', &Package::version},
                                                              {'A', &Package::architecture},
                                                              {'U', &Package::homepage},
                                                              {'o', &Package::source_name}};

// Lines "X:value": packages begin with C: or P: and end with an empty line; F: is a folder, R: a file in it.
class ApkReader {
 public:
  void line(std::string_view line) {
    if (line.empty()) return end();
    if (line.size() < 2 || line[1] != ':')
      throw Error(ExitCode::input, "expected a letter, a colon and a value");
    std::string_view value = line.substr(2);
    begun_ = true;
    if (line[0] == 'L') package_.license = read_license(value);
    if (line[0] == 'F') folder_ = value;
    if (line[0] == 'R') add_file(value);
    for (const auto& [letter, member] : kTexts)  // others are dependencies, sizes, checksums
      if (line[0] == letter) package_.*member = value;
  }

  std::vector<Package> take() {
    end();
    return std::move(packages_);
  }

 private:
  void add_file(std::string_view name) {
    std::string path = folder_.empty() ? std::string(name) : fmt::format("{}/{}", folder_, name);
    if (is_python_metadata(path)) package_.python.push_back(std::move(path));
  }

  void end() {
    if (!begun_) return;
    if (package_.name.empty() || package_.version.empty())
      throw Error(ExitCode::input, "a package has no name (P:) or no version (V:)");
    if (packages_.size() == kMostPackages)
      throw Error(ExitCode::input, fmt::format("more than {} packages", kMostPackages));
    package_.ecosystem = Ecosystem::apk;
    if (package_.source_name == package_.name) package_.source_name.clear();
    packages_.push_back(std::move(package_));
    package_ = {};
    folder_.clear();
    begun_ = false;
  }

  std::vector<Package> packages_;
  Package package_;
  std::string folder_;
  bool begun_ = false;
};

}  // namespace

std::vector<Package> read_apk_installed(std::string_view text) {
  ApkReader reader;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    try {
      reader.line(line);
    } catch (const Error& error) {
      throw Error(ExitCode::input, fmt::format("line {}: {}", number, error.message()));
    }
  }
  return reader.take();
}

}  // namespace kiln::sbom
