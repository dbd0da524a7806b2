#include "image/fetch/debian_archive.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hidden_words.h"
#include "base/text.h"
#include "image/build/offline.h"
#include "image/build/script.h"

namespace kiln {
namespace {

constexpr const char* kSiteInside = "/run/kiln/site/base/";
constexpr const char* kHelper = "/usr/lib/apt/apt-helper";  // of package apt
constexpr std::size_t kAtOnce = 40;  // packages of one call: what is fetched again after a kill

// What apt calls an architecture.
std::string apt_architecture(const std::string& architecture) {
  return architecture == "ppc64le" ? "ppc64el" : architecture.substr(0, architecture.find('/'));
}

// The value of `Dir::Etc::SourceList "…";`.
std::string source_list_of(const std::string& configuration) {
  constexpr std::string_view kName = "Dir::Etc::SourceList \"";
  const std::size_t at = configuration.rfind(kName);
  if (at == std::string::npos) return "";
  const std::size_t start = at + kName.size();
  return configuration.substr(start, configuration.find('"', start) - start);
}

std::string in_folder(const fs::path& folder, std::string_view lines) {
  return fmt::format(
      "{}Dir::Etc::Parts \"/dev/null\";\nDir::Etc::Main \"/dev/null\";\nDir::Etc::SourceParts "
      "\"/dev/null\";\n"
      "Dir::Etc::SourceList \"{}/archives.sources\";\nDir::State::Lists \"{}/lists\";\nDir::State::Status "
      "\"/dev/null\";\nDir::Cache \"{}/cache\";\nAPT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\n"
      "APT::Update::Error-Mode \"any\";\n",
      lines, folder.string(), folder.string(), folder.string());
}

std::string architecture_lines(const std::string& architecture) {
  const std::string word = apt_architecture(architecture);
  return fmt::format("APT::Architecture \"{}\";\nAPT::Architectures {{ \"{}\"; }};\n", word, word);
}

}  // namespace

DebianArchive::DebianArchive(const StepSetup& setup, const Step& base, const MirrorFolder& mirror,
                             const fs::path& folder)
    : setup_(setup), mirror_(mirror), folder_(folder) {
  const auto site = site_of_base(setup, folder, folder / "site.log");
  const std::string conf = site ? setup.files.read(*site / "apt.conf").value_or("") : "";
  const std::string inside = source_list_of(conf);
  if (!inside.starts_with(kSiteInside))
    throw Error(ExitCode::input,
                fmt::format("{} does not say where its packages come from on this machine", base.component),
                "a machine that mirrors Debian has Debian's archives among its apt sources (docs/site.md)");
  site_conf_ = replaced_all(conf, kSiteInside, site->string() + "/");
  const std::string list = replaced_all(inside, kSiteInside, site->string() + "/");
  const std::string text = setup.files.read(list).value_or("");
  sources_ = apt_sources(replaced_all(text, kSiteInside, site->string() + "/"));
  if (!setup.site.ca_certificates.empty() && setup.files.exists(setup.site.ca_certificates))
    site_conf_ += fmt::format("Acquire::https::CaInfo \"{}\";\n", setup.site.ca_certificates);
}

CommandResult DebianArchive::apt(std::vector<std::string> words, const fs::path& configuration,
                                 bool capture) {
  Command command;
  command.argv = std::move(words);
  command.environment = {
      {"LC_ALL", "C.UTF-8"},
      {"PATH", setup_.environment.contains("PATH") ? setup_.environment.at("PATH") : "/usr/bin:/bin"},
      {"APT_CONFIG", configuration.string()},
      {"TMPDIR", folder_.string()}};
  for (const char* name : {"http_proxy", "https_proxy", "no_proxy"})
    if (const auto found = setup_.environment.find(name); found != setup_.environment.end())
      command.environment.insert(*found);
  command.capture_stdout = capture;
  command.hidden = passwords_in_urls(site_conf_);
  for (const AptSource& source : sources_)
    for (std::string& word : passwords_in_urls(source.uri)) command.hidden.push_back(std::move(word));
  CommandResult result = setup_.runner.run(command);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  return result;
}

void DebianArchive::must(const CommandResult& result, const std::string& action) const {
  if (result.ok()) return;
  throw Error(ExitCode::network, fmt::format("{}: {}", action, last_lines(result.tail, 1)));
}

void DebianArchive::configure_machine(const std::string& architecture) {
  const fs::path own = folder_ / "machine";
  std::string text;
  for (const AptSource& source : sources_)
    text += fmt::format("Types: deb\nURIs: {}\nSuites: {}\nComponents: {}\n{}\n", source.uri,
                        source.suite.suite, source.suite.components, source.suite.options);
  setup_.files.write_output(own / "archives.sources", text);
  // Lists are kept as they come, so that they are what the signed list of lists says.
  std::string conf = in_folder(own, site_conf_) + architecture_lines(architecture);
  for (const char* key : {"KeepCompressed \"true\"", "KeepCompressedAs \"xz\""})
    conf += fmt::format("Acquire::IndexTargets::deb::Packages::{};\n", key);
  machine_ = own / "apt.conf";
  setup_.files.write_output(machine_, conf);
  for (const char* inside : {"lists/partial", "cache/archives/partial"})
    setup_.files.make_directories(own / inside);
}

// apt keeps a list as .xz, whatever it came as; of an archive that has none its list of lists says only what
// the plain one is.
std::string DebianArchive::signed_bytes(const std::string& file, std::string& path,
                                        const std::string& signed_list) {
  std::string bytes = setup_.files.read(file).value_or("");
  auto is_signed = [&] { return signed_list.find(Digest::of(bytes).hex()) != std::string::npos; };
  if (!path.ends_with(".xz") || is_signed()) return bytes;
  path.resize(path.size() - 3);
  CommandResult plain = apt({kHelper, "cat-file", file}, machine_, true);
  must(plain, "cannot unpack " + path);
  bytes = std::move(plain.output);
  if (!is_signed()) throw Error(ExitCode::network, fmt::format("no list {} as the archive signed it", path));
  return bytes;
}

MirrorSuite DebianArchive::keep_lists(const AptSource& source, std::vector<MirrorItem>& items) {
  MirrorSuite suite = source.suite;
  const CommandResult listed =
      apt({"apt-get", "indextargets", "--no-release-info", "--format",
           "$(FILENAME)\t$(METAKEY)\t$(REPO_URI)\t$(RELEASE)", "Created-By: Packages"},
          machine_, true);
  must(listed, "cannot read the lists of " + suite.suite);
  std::vector<std::pair<fs::path, std::string>> lists;  // file, path below dists/<suite>/
  std::string signed_list;
  for (std::string_view line : split(listed.output, '\n')) {
    const auto parts = split(line, '\t');
    if (parts.size() != 4 || parts[3] != suite.suite) continue;
    std::string uri(parts[2]);
    while (uri.ends_with('/')) uri.pop_back();
    std::string file(parts[0]), key(parts[1]);
    if (file.ends_with(".xz")) file.resize(file.size() - 3);
    signed_list = file.substr(0, file.size() - std::min(file.size(), key.size()));
    for (const char* ending : {".xz", ""})
      if (setup_.files.exists(file + ending)) {
        lists.emplace_back(file + ending, key + ending);
        break;
      }
  }
  for (const char* name : {"InRelease", "Release", "Release.gpg"})
    if (!signed_list.empty() && setup_.files.exists(signed_list + name))
      lists.emplace_back(signed_list + name, name);
  const std::string text = setup_.files.read(signed_list + "InRelease")
                               .value_or(setup_.files.read(signed_list + "Release").value_or(""));
  std::vector<std::pair<std::string, Digest>> kept;
  for (auto& [file, path] : lists) {
    const std::string bytes = signed_bytes(file, path, text);
    const Digest digest = mirror_.put(
        {}, [&](const auto& sink) { sink(bytes); }, path);
    kept.emplace_back(path, digest);
    if (path == "InRelease" || (path == "Release" && suite.folder.empty()))
      suite.folder = fmt::format("apt/{}-{}", suite.suite, digest.hex().substr(0, 12));
  }
  if (suite.folder.empty())
    throw Error(ExitCode::network, fmt::format("apt has no signed list of {}", suite.suite));
  for (const auto& [path, digest] : kept) {
    const std::string dists = fmt::format("{}/dists/{}/", suite.folder, suite.suite);
    std::vector<std::string> names = {dists + path};
    if (const std::size_t slash = path.rfind('/'); slash != std::string::npos)
      names.push_back(fmt::format("{}{}/by-hash/SHA256/{}", dists, path.substr(0, slash), digest.hex()));
    for (const std::string& name : names) {
      mirror_.link(name, digest);
      items.push_back({MirrorKind::index,
                       suite.suite + " " + path,
                       name,
                       digest,
                       static_cast<std::uint64_t>(fs::file_size(mirror_.path(name))),
                       "",
                       "",
                       {}});
    }
  }
  return suite;
}

MirrorArchive DebianArchive::fetch_lists(const std::string& name, const std::string& architecture,
                                         std::vector<MirrorItem>& items) {
  configure_machine(architecture);
  must(apt({"apt-get", "-qq", "update"}, machine_, false), "cannot fetch the lists of packages");
  MirrorArchive archive{name, architecture, "", {}};
  for (const AptSource& source : sources_) {
    MirrorSuite suite = keep_lists(source, items);
    constexpr std::string_view kKey = "Signed-By: /";
    const std::size_t at = suite.options.find(kKey);
    if (at != std::string::npos) {
      // A key of the site's own; Debian's is in every image of Debian.
      const std::string file =
          suite.options.substr(at + kKey.size() - 1, suite.options.find('\n', at) - at - kKey.size() + 1);
      if (file.starts_with(folder_.string())) {
        const Digest digest = mirror_.put_file(file, {});
        const std::string inside =
            fmt::format("keys/{}{}", digest.hex().substr(0, 16), fs::path(file).extension().string());
        mirror_.link(inside, digest);
        items.push_back({MirrorKind::key, inside, inside, digest, fs::file_size(file), "", "", {}});
        suite.options.replace(at + kKey.size() - 1, file.size(), inside);
      }
    }
    archive.suites.push_back(std::move(suite));
  }
  return archive;
}

fs::path DebianArchive::configure_mirror(const MirrorArchive& archive) {
  std::string name = "mirror";
  for (const MirrorSuite& suite : archive.suites)
    name += "-" + suite.folder.substr(suite.folder.rfind('-') + 1);
  const fs::path own = folder_ / name;
  if (setup_.files.exists(own / "apt.conf")) return own / "apt.conf";
  std::string text;
  for (const MirrorSuite& suite : archive.suites) {
    const std::string options = replaced_all(suite.options, "Signed-By: keys/",
                                             fmt::format("Signed-By: {}/keys/", mirror_.root().string()));
    text +=
        fmt::format("Types: deb\nURIs: {}\nSuites: {}\nComponents: {}\n{}\n",
                    copy_uri(mirror_.path(suite.folder).string()), suite.suite, suite.components, options);
  }
  setup_.files.write_output(own / "archives.sources", text);
  for (const char* inside : {"lists/partial", "cache/archives/partial"})
    setup_.files.make_directories(own / inside);
  const fs::path conf = own / "being-made.conf";
  setup_.files.write_output(conf, in_folder(own, "Acquire::Check-Valid-Until \"false\";\n") +
                                      architecture_lines(archive.architecture));
  must(apt({"apt-get", "-qq", "update"}, conf, false), "cannot read the lists of the mirror");
  setup_.files.rename(conf, own / "apt.conf");
  return own / "apt.conf";
}

FoundPackages DebianArchive::find(const MirrorArchive& archive, const AptPackages& packages) {
  FoundPackages answer;
  AptPackages left = packages;
  const fs::path conf = configure_mirror(archive);
  while (!left.empty()) {
    std::vector<std::string> words = {"apt-get", "-qq", "download", "--print-uris"};
    words.insert(words.end(), left.begin(), left.end());
    const CommandResult result = apt(words, conf, true);
    if (result.ok()) {
      for (std::string_view line : split(result.output, '\n'))
        if (auto package = listed_package(line, archive, mirror_.root().string()))
          answer.found.push_back(*std::move(package));
      if (answer.found.size() < left.size())
        throw Error(ExitCode::network,
                    fmt::format("apt found {} of {} packages", answer.found.size(), left.size()));
      break;
    }
    // E: Version '1' for 'hello' was not found; E: Unable to locate package hello
    const std::size_t before = answer.missing.size();
    for (const std::string& package : left) {
      const std::size_t equals = package.find('=');
      const std::string name = package.substr(0, package.find_first_of(":="));
      const std::string version = package.substr(equals + 1);
      const bool no_version =
          result.tail.find(fmt::format("Version '{}' for '{}", version, name)) != std::string::npos;
      const bool no_package =
          result.tail.find(fmt::format("Unable to locate package {}\n", name)) != std::string::npos ||
          result.tail.find(fmt::format("No packages found for {}\n", name)) != std::string::npos ||
          result.tail.find(fmt::format("Can't select candidate version from package {} ", name)) !=
              std::string::npos;
      if (no_version || no_package) answer.missing.push_back(package);
    }
    for (std::size_t i = before; i < answer.missing.size(); ++i) left.erase(answer.missing[i]);
    if (answer.missing.size() == before) must(result, "cannot look packages up");
  }
  return answer;
}

std::string DebianArchive::uri_of(const MirrorSuite& suite) const {
  const auto found = std::find_if(sources_.begin(), sources_.end(),
                                  [&](const AptSource& source) { return source.suite.suite == suite.suite; });
  if (found != sources_.end()) return found->uri;
  throw Error(ExitCode::input,
              fmt::format("none of this machine's apt sources has the suite {}", suite.suite));
}

void DebianArchive::fetch_some(const MirrorArchive& archive,
                               const std::vector<const ListedPackage*>& packages) {
  const fs::path place = folder_ / "fetched";
  setup_.files.remove_all(place);
  setup_.files.make_directories(place);
  std::vector<std::string> words = {kHelper, "download-file"};
  for (const ListedPackage* package : packages) {
    std::string path = replaced_all(replaced_all(package->path, "+", "%2b"), "~", "%7e");
    words.insert(words.end(), {uri_of(archive.suites[package->suite]) + "/" + path,
                               (place / package->digest.hex()).string(), "SHA256:" + package->digest.hex()});
  }
  const CommandResult result = apt(words, machine_, false);
  std::string first;
  for (const ListedPackage* package : packages) {
    const fs::path file = place / package->digest.hex();
    if (setup_.files.exists(file)) {
      mirror_.put_file(file, package->digest);
      mirror_.link(archive.suites[package->suite].folder + "/" + package->path, package->digest);
    } else if (first.empty()) {
      first = package->path;
    }
  }
  if (!first.empty())
    throw Error(
        ExitCode::network, fmt::format("cannot fetch {}: {}", first, last_lines(result.tail, 1)),
        "an archive keeps a package only until the next one: `kiln lock --update`, build, and mirror what "
        "is there now");
}

void DebianArchive::fetch(const MirrorArchive& archive, const std::vector<ListedPackage>& packages) {
  if (machine_.empty()) configure_machine(archive.architecture);
  std::optional<Error> problem;
  for (std::size_t start = 0; start < packages.size(); start += kAtOnce) {
    std::vector<const ListedPackage*> some;
    for (std::size_t i = start; i < std::min(start + kAtOnce, packages.size()); ++i)
      some.push_back(&packages[i]);
    try {
      fetch_some(archive, some);
    } catch (const Error& error) {
      if (error.code() != ExitCode::network) throw;
      if (!problem) problem = error;
    }
  }
  if (problem) throw Error(*problem);
}

}  // namespace kiln
