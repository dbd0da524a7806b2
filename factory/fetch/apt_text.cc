#include "factory/fetch/apt_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "factory/base/text.h"
#include "factory/oci/layer_read.h"
#include "factory/sbom/control_file.h"

namespace kiln {
namespace {

std::string one_line(const std::string& text) {
  std::string line(trimmed(text));
  std::ranges::replace(line, '\n', ' ');
  return line;
}

std::vector<std::string> words_of(const std::string& text) {
  const std::string line = one_line(text);  // outlives the words, which are parts of it
  std::vector<std::string> words;
  for (std::string_view word : split(line, ' '))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

// "Signed-By: …\nTrusted: …\n" of a paragraph.
std::string options_of(const sbom::ControlParagraph& paragraph) {
  std::string options;
  for (const char* name : {"Signed-By", "Trusted"}) {
    const std::string& value = paragraph.at(name);
    if (value.empty()) continue;
    options += fmt::format("{}: {}\n", name, trimmed(replaced_all(value, "\n", "\n ")));
  }
  return options;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_read(const sbom::ControlParagraph& paragraph, const std::string& architecture) {
  const std::vector<std::string> types = words_of(paragraph.at("Types")),
                                 architectures = words_of(paragraph.at("Architectures"));
  const std::string enabled = lower_case(trimmed(paragraph.at("Enabled")));
  return (types.empty() || contains(types, "deb")) && enabled != "no" && enabled != "false" &&
         (architecture.empty() || architectures.empty() || contains(architectures, architecture));
}

// A suite that ends with a slash is a folder of an archive without suites.
AptSource source_of(std::string uri, std::string suite, const sbom::ControlParagraph& paragraph) {
  const bool is_flat = suite.ends_with('/');
  auto strip = [](std::string& text) {
    while (text.ends_with('/')) text.pop_back();
  };
  strip(uri);
  if (is_flat) {
    strip(suite);
    while (suite.starts_with("./")) suite.erase(0, 2);
    if (!suite.empty() && suite != ".") uri += "/" + suite;
    return {uri, {"", std::string(kFlatSuite), "", options_of(paragraph)}};
  }
  if (!is_inside(suite))
    throw Error(ExitCode::input, fmt::format("'{}' is no suite", without_controls(suite)));
  return {uri, {"", suite, one_line(paragraph.at("Components")), options_of(paragraph)}};
}

constexpr std::string_view kStatus = "var/lib/dpkg/status";
constexpr std::uint64_t kMostStatus = 64u << 20, kMostOfApt = 4u << 20;

// Where apt looks for sources and keys (sources.list(5), apt-secure(8)), and where the image's own do.
bool is_of_apt(std::string_view path) {
  constexpr std::array<std::string_view, 6> kPlaces = {"etc/apt/sources.list", "etc/apt/sources.list.d/",
                                                       "etc/apt/trusted.gpg",  "etc/apt/trusted.gpg.d/",
                                                       "etc/apt/keyrings/",    "usr/share/keyrings/"};
  return std::ranges::any_of(kPlaces, [&](std::string_view place) {
    return place.ends_with('/') ? path.starts_with(place) : path == place;
  });
}

std::string content_of(LayerReader& reader, std::uint64_t size, std::uint64_t most) {
  if (size > most) reader.refuse("it is too long");
  std::string content;
  reader.read_content([&](std::string_view bytes) { content += bytes; });
  return content;
}

}  // namespace

std::string replaced_all(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::vector<AptSource> apt_sources(std::string_view text, const std::string& architecture) {
  std::vector<AptSource> sources;
  sbom::ControlReader reader(text);
  while (const auto paragraph = reader.next()) {
    if (!is_read(*paragraph, architecture)) continue;
    auto words = [&](const char* field) {
      return words_of(replaced_all(paragraph->at(field), "$(ARCH)", architecture));
    };
    const std::vector<std::string> uris = words("URIs"), suites = words("Suites");
    if (uris.empty() || suites.empty())
      throw Error(ExitCode::input, "a source of packages without URI or suite");
    for (const std::string& suite : suites) sources.push_back(source_of(uris.front(), suite, *paragraph));
  }
  return sources;
}

std::string percent_decoded_path(std::string_view path) {
  std::string decoded;
  for (std::size_t i = 0; i < path.size(); ++i) {
    unsigned byte = 0;
    const std::string_view hex = path.substr(std::min(i + 1, path.size()), 2);
    const bool coded = path[i] == '%' && hex.size() == 2 &&
                       std::from_chars(hex.data(), hex.data() + 2, byte, 16).ptr == hex.data() + 2;
    decoded += coded ? static_cast<char>(byte) : path[i];
    if (coded) i += 2;
  }
  return decoded;
}

std::optional<ListedPackage> listed_package(std::string_view line, const MirrorArchive& archive,
                                            const std::string& root) {
  const std::vector<std::string_view> words = split(line, ' ');
  constexpr std::string_view kHash = "SHA256:";
  if (words.size() != 4 || words[0].size() < 2 || words[0].front() != '\'' || !words[3].starts_with(kHash))
    return std::nullopt;
  const std::string path = percent_decoded_path(words[0].substr(1, words[0].size() - 2));
  ListedPackage package;
  for (; package.suite < archive.suites.size(); ++package.suite) {
    const std::string before = fmt::format("copy:{}/{}/", root, archive.suites[package.suite].folder);
    if (!path.starts_with(before)) continue;
    package.path = path.substr(before.size());
    while (package.path.starts_with("./")) package.path.erase(0, 2);  // of flat archives
    package.digest = Digest::from_hex(words[3].substr(kHash.size()));
    std::from_chars(words[2].data(), words[2].data() + words[2].size(), package.size);
    package.package = words[1];
    if (is_inside(package.path)) return package;
  }
  return std::nullopt;
}

AptPackages packages_in_status(std::string_view status) {
  AptPackages packages;
  sbom::ControlReader reader(status);
  while (const auto paragraph = reader.next()) {
    const std::string& state = paragraph->at("Status");
    if (!state.ends_with(" installed")) continue;
    const std::string& architecture = paragraph->at("Architecture");
    const std::string suffix = architecture == "all" ? "" : ":" + architecture;
    packages.insert(fmt::format("{}{}={}", paragraph->at("Package"), suffix, paragraph->at("Version")));
  }
  return packages;
}

LayerApt read_apt(const BuiltLayer& layer, const BlobStore& store) {
  const ReadOnlyFile file(store.path(layer.blob.digest));
  LayerStream stream(BlobSection{&file, 0, file.size()}, layer.blob, layer.diff_id, LayerLimits{});
  return read_apt(stream);
}

LayerApt read_apt(LayerStream& layer) {
  LayerReader reader(layer, EntryLimits{}, LayerLimits{});
  LayerApt apt;
  for (LayerEntry entry; reader.next(entry);) {
    if (entry.kind == EntryKind::whiteout || entry.kind == EntryKind::opaque)
      apt.removed.push_back(entry.path);
    else if (entry.path == kStatus && entry.kind == EntryKind::file)
      apt.status = content_of(reader, entry.size, kMostStatus);
    else if (is_of_apt(entry.path) && entry.kind == EntryKind::file)
      apt.files[entry.path] = content_of(reader, entry.size, kMostOfApt);
    else if (is_of_apt(entry.path) && entry.kind == EntryKind::symlink)
      apt.links[entry.path] = entry.target;
  }
  return apt;
}

}  // namespace kiln
