#include "factory/run/offline.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/durable_file.h"
#include "factory/base/text.h"
#include "factory/engine/architecture.h"
#include "factory/mirror/mirror_folder.h"

namespace kiln {
namespace {

constexpr const char* kMirrorInside = "/run/kiln/mirror";
constexpr const char* kWordsInside = "/run/kiln/offline";
// A later --proto wins. What the scripts fetch, they compare with its checksum.
constexpr const char* kCurl =
    "#!/bin/sh\n"
    "PATH=${PATH#/run/kiln/offline/bin:}\n"
    "case \" $* \" in *' file:///run/kiln/mirror/'*) set -- \"$@\" --proto =file ;; esac\n"
    "exec curl \"$@\"\n";
constexpr const char* kRemedy = "with a network, `kiln mirror -f MATRIX DIR` fetches it";

Mirror mirror_of(const StepSetup& setup) {
  const MirrorFolder folder(setup.site.mirror, setup.files);
  if (folder.is_there()) return folder.read();
  throw Error(ExitCode::usage, fmt::format("'{}' is no mirror", setup.site.mirror),
              "`kiln mirror -f MATRIX DIR` makes one, with a network");
}

std::string sources_of(const MirrorArchive& archive, const std::string& root) {
  std::string text;
  for (const MirrorSuite& suite : archive.suites) {
    // Keys of the site's own lie in the mirror as well.
    std::string options = suite.options;
    constexpr std::string_view kOwn = "Signed-By: keys/";
    if (options.starts_with(kOwn)) options.insert(std::string_view("Signed-By: ").size(), root + "/");
    text += deb822_of(suite, copy_uri(root + "/" + suite.folder), options);
  }
  return text;
}

std::string git_words(const Mirror& mirror, const std::string& root) {
  // Another user's repositories, and submodules from this disk, are what git would refuse.
  std::string text = "[safe]\n\tdirectory = *\n[protocol \"file\"]\n\tallow = always\n";
  std::string before;
  for (const auto& [key, item] : mirror.items) {
    if (item.kind != MirrorKind::commit || item.path == before) continue;
    before = item.path;
    std::string url;
    for (char c : item.source) {
      if (c == '"' || c == '\\') url += '\\';
      url += c;
    }
    text += fmt::format("[url \"file://{}/{}\"]\n\tinsteadOf = \"{}\"\n", root, item.path, url);
  }
  return text;
}

void write_words(const OfflineWords& words, const fs::path& folder, FileSystem& files) {
  const FileMask of_images(kImageMask);  // apt reads them as a user of its own
  files.write_output(folder / "mirror.sources", words.sources);
  files.write_output(folder / "apt.conf", words.apt);
  files.write_output(folder / "pip.conf", words.pip);
  files.write_output(folder / "gitconfig", words.git);
  files.write_output(folder / "bin" / "curl", kCurl);
  fs::permissions(folder / "bin" / "curl", fs::perms(0755));
}

}  // namespace

OfflineWords offline_words(const Mirror& mirror, const MirrorArchive* archive, const std::string& root,
                           const std::string& folder) {
  OfflineWords words;
  if (archive != nullptr) {
    words.sources = sources_of(*archive, root);
    // What else the image names cannot be reached, and the mirror has it.
    words.apt = fmt::format(
        "Dir::Etc::SourceList \"{}/mirror.sources\";\nDir::Etc::SourceParts \"/dev/null\";\n"
        "Acquire::Check-Valid-Until \"false\";\nAcquire::Languages \"none\";\n",
        folder);
  }
  words.pip = fmt::format("[global]\nno-index = true\nfind-links = file://{}/pip/links.html\n", root);
  words.git = git_words(mirror, root);
  return words;
}

std::string copy_uri(const std::string& folder) {
  std::string uri = "copy:";
  for (char c : folder) {
    const bool plain =
        is_letter_or_digit(c) || std::string_view("/._+~-:=@,").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri;
}

const MirrorArchive* archive_of(const Mirror& mirror, const Step& base) {
  return mirror.archive(fmt::format("{}@{}", base.component, base.version), architecture_of(base),
                        value_or(base.parameters, "KILN_ARCHIVE"));
}

SiteHandover offline_handover(const StepSetup& setup, const std::optional<Step>& base,
                              const fs::path& folder) {
  const Mirror mirror = mirror_of(setup);
  const MirrorArchive* archive = base ? archive_of(mirror, *base) : nullptr;
  const fs::path own = fs::absolute(folder) / "offline";
  write_words(offline_words(mirror, archive, kMirrorInside, kWordsInside), own, setup.files);
  SiteHandover handover;
  handover.mounts = {{setup.site.mirror, kMirrorInside}, {own, kWordsInside}};
  const std::string inside = kWordsInside;
  handover.environment = {{"PIP_CONFIG_FILE", inside + "/pip.conf"},
                          {"GIT_CONFIG_SYSTEM", inside + "/gitconfig"}};
  if (archive != nullptr) handover.environment["APT_CONFIG"] = inside + "/apt.conf";
  return handover;
}

std::map<std::string, std::string> offline_environment(const StepSetup& setup, const Step& base,
                                                       const fs::path& folder) {
  const Mirror mirror = mirror_of(setup);
  const MirrorArchive* archive = archive_of(mirror, base);
  if (archive == nullptr)
    throw Error(ExitCode::network,
                fmt::format("the mirror {} has no packages of {} {} in the state that is asked for",
                            setup.site.mirror, base.component, base.version),
                kRemedy);
  const fs::path own = fs::absolute(folder) / "offline";
  OfflineWords words = offline_words(mirror, archive, setup.site.mirror, own.string());
  // Nothing of the machine's own apt.
  words.apt += "Dir::Etc::Parts \"/dev/null\";\nDir::Etc::Main \"/dev/null\";\n";
  // Its lists are of other archives.
  words.apt += fmt::format("Dir::State::Lists \"{}/lists\";\n", own.string());
  write_words(words, own, setup.files);
  return {{"APT_CONFIG", (own / "apt.conf").string()}, {"PIP_CONFIG_FILE", (own / "pip.conf").string()}};
}

std::string offline_source(const StepSetup& setup, const std::map<std::string, std::string>& parameters) {
  const auto url = parameters.find("KILN_SOURCE_URL"), checksum = parameters.find("KILN_SOURCE_CHECKSUM");
  if (url == parameters.end()) return "";
  const bool is_file = checksum != parameters.end() && checksum->second.starts_with("sha256:");
  if (!is_file) return url->second;
  const Mirror mirror = mirror_of(setup);
  const MirrorItem* item = mirror.source(url->second, checksum->second);
  if (item == nullptr)
    throw Error(ExitCode::network, fmt::format("the mirror {} has no {}", setup.site.mirror, url->second),
                kRemedy);
  return fmt::format("file://{}/{}", kMirrorInside, item->path);
}

void lead_to_source(ContainerRun& request, const Step& step, const StepSetup& setup, const fs::path& files) {
  request.environment["KILN_SOURCE_URL"] = offline_source(setup, step.parameters);
  const bool keeps_curl = std::ranges::any_of(step.files, [&](const std::string& path) {
    return setup.files.read(files / path).value_or("").find("--proto") != std::string::npos;
  });
  if (keeps_curl)
    request.environment["PATH"] = fmt::format("{}/bin:{}", kWordsInside, request.environment["PATH"]);
}

std::string offline_image(const StepSetup& setup, const Step& pull) {
  const Mirror mirror = mirror_of(setup);
  const MirrorItem* item = mirror.image(pull.reference, architecture_of(pull));
  if (item == nullptr)
    throw Error(ExitCode::network,
                fmt::format("the mirror {} has no image {} {}", setup.site.mirror, pull.reference,
                            architecture_of(pull)),
                kRemedy);
  // Before an engine says it in words of its own, which are about registries.
  const MirrorFolder folder(setup.site.mirror, setup.files);
  if (const std::string fault = folder.fault_of(*item, setup.runner, setup.environment); !fault.empty())
    throw Error(ExitCode::store,
                fmt::format("the image {} {} in the mirror {}", item->name, fault, setup.site.mirror),
                kRemedy);
  return fmt::format("oci:{}/{}:base", setup.site.mirror, item->path);
}

}  // namespace kiln
