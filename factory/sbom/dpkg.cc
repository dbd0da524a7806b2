#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "factory/base/digest.h"
#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/sbom/control_file.h"
#include "factory/sbom/databases.h"

namespace kiln::sbom {
namespace {

constexpr std::size_t kMostLicenses = 1000;   // of one package
constexpr std::size_t kMostText = 16u << 10;  // bytes kept of a licence's text

// What there is of a package in the image (dpkg(1), "Package states").
struct PackageState {
  bool has_files = true;
  std::string unusual{};  // the state, where the package is not wholly installed
};

// "install ok installed": the last word counts. Distroless files have no Status.
PackageState state_of(const ControlParagraph& paragraph) {
  const std::string status = paragraph.line("Status");
  const std::string state = status.substr(status.rfind(' ') + 1);
  if (state == "unpacked" || state == "half-configured" || state == "half-installed") return {true, state};
  return {state.empty() || state == "installed" || state == "triggers-awaited" ||
          state == "triggers-pending"};
}

// "Source: gcc-14 (14.2.0-19)"; without a version in parentheses it is the package's own.
void set_source(Package& package, const std::string& source) {
  if (source.empty()) return;
  std::size_t space = source.find(' ');
  package.source_name = source.substr(0, space);
  if (space == source.npos) return;
  std::size_t open = source.find('(', space);
  std::size_t close = source.find(')', space);
  if (open != source.npos && close != source.npos && open < close)
    package.source_version = source.substr(open + 1, close - open - 1);
}

// "." stands for an empty line (deb822).
std::string text_of(const std::string& field) {
  std::string text;
  std::size_t from = 0;
  while (from < field.size() && text.size() < kMostText) {
    std::size_t end = std::min(field.find('\n', from), field.size());
    std::string_view line = std::string_view(field).substr(from, end - from);
    if (!text.empty()) text += '\n';
    if (line != ".") text += line;
    from = end + 1;
  }
  return text;
}

void rename(std::string& expression, const std::string& reference, const std::string& other) {
  for (std::size_t at = 0; (at = expression.find(reference, at)) != expression.npos; at += other.size()) {
    std::size_t end = at + reference.size();
    bool whole = end == expression.size() || expression[end] == ' ' || expression[end] == ')';
    if (whole) expression.replace(at, reference.size(), other);
  }
}

// The same short name has another text in another package: the reference tells them apart by the text.
License with_texts(License license, const std::map<std::string, std::string>& texts) {
  std::map<std::string, std::string> extracted;
  for (const auto& [reference, written] : license.extracted) {
    auto found = texts.find(written);
    std::string text = found == texts.end() ? written : text_of(found->second);
    std::string name =
        found == texts.end() ? reference : reference + "-" + Digest::of(text).hex().substr(0, 8);
    rename(license.expression, reference, name);
    extracted.emplace(std::move(name), std::move(text));
  }
  license.extracted = std::move(extracted);
  return license;
}

}  // namespace

std::vector<Package> read_dpkg_status(std::string_view text) {
  std::vector<Package> packages;
  ControlReader reader(text);
  while (auto paragraph = reader.next()) {
    PackageState state = state_of(*paragraph);
    if (!state.has_files) continue;
    Package package;
    package.state = std::move(state.unusual);
    package.ecosystem = Ecosystem::deb;
    package.name = paragraph->line("Package");
    package.version = paragraph->line("Version");
    package.architecture = paragraph->line("Architecture");
    package.homepage = paragraph->line("Homepage");
    set_source(package, paragraph->line("Source"));
    if (package.version.empty() && !package.state.empty()) continue;  // its first unpacking did not end
    if (package.name.empty() || package.version.empty())
      throw Error(ExitCode::input, "a paragraph has no Package or no Version");
    packages.push_back(std::move(package));
    if (packages.size() > kMostPackages)
      throw Error(ExitCode::input, fmt::format("more than {} packages", kMostPackages));
  }
  return packages;
}

License read_debian_copyright(std::string_view text) {
  std::vector<License> licenses;
  std::map<std::string, std::string> texts;  // short name → what the file says it means
  std::set<std::string> names;
  try {
    ControlReader reader(text);
    auto head = reader.next();
    if (!head || !contains(head->at("Format"), "copyright-format")) return {};
    do {
      const std::string& field = head->at("License");
      std::string name = first_line(field);
      if (field.size() > name.size()) texts.emplace(name, field.substr(name.size() + 1));
      // The header's and the stand-alone paragraphs' only explain what files may have.
      if (!head->at("Files").empty() && !name.empty()) names.insert(name);
      head = reader.next();
    } while (head && names.size() <= kMostLicenses);
  } catch (const Error&) {
    return {};  // looks machine-readable and is not
  }
  for (const std::string& name : names) {
    if (first_not_utf8(name) != std::string_view::npos) return {};
    licenses.push_back(with_texts(read_license(name), texts));
  }
  return all_of(std::move(licenses));
}

Distribution read_os_release(std::string_view text) {
  Distribution distribution;
  for (std::string_view line : split(text, '\n')) {
    std::size_t equals = line.find('=');
    if (equals == line.npos) continue;
    std::string_view value = line.substr(equals + 1);
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    if (value.size() > 200 || first_not_utf8(value) != value.npos) continue;
    std::string_view name = line.substr(0, equals);
    if (name == "ID") distribution.id = value;
    if (name == "VERSION_ID") distribution.version = value;
    if (name == "NAME") distribution.name = value;
  }
  return distribution;
}

}  // namespace kiln::sbom
