#include "factory/fetch/debian_archive.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/secret_mask.h"
#include "factory/base/text.h"
#include "factory/run/offline.h"
#include "factory/run/script.h"

namespace kiln {
namespace {

constexpr const char* kSiteInside = "/run/kiln/site/base/";
constexpr const char* kHelper = "/usr/lib/apt/apt-helper";  // of package apt
constexpr std::size_t kAtOnce = 40;  // packages of one call: what is fetched again after a kill

// The value of `Dir::Etc::SourceList "…";`.
std::string source_list_of(const std::string& configuration) {
  constexpr std::string_view kName = "Dir::Etc::SourceList \"";
  const std::size_t at = configuration.rfind(kName);
  if (at == std::string::npos) return "";
  const std::size_t start = at + kName.size();
  return configuration.substr(start, configuration.find('"', start) - start);
}

// Without a name, a password and slashes at its end: apt's answers have none of them, or all.
std::string plain_uri(std::string_view uri) {
  while (uri.ends_with('/')) uri.remove_suffix(1);
  const std::size_t start = uri.find("://");
  if (start == std::string_view::npos) return std::string(uri);
  const std::size_t host = start + std::string_view("://").size();
  const std::size_t at = uri.substr(0, uri.find('/', host)).rfind('@');
  const std::size_t from = at == std::string_view::npos || at < host ? host : at + 1;
  return std::string(uri.substr(0, host)) + std::string(uri.substr(from));
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

std::string apt_architecture(const std::string& architecture) {
  return architecture == "ppc64le" ? "ppc64el" : architecture.substr(0, architecture.find('/'));
}

fs::path site_of_image(const std::vector<ImageSource>& sources, const fs::path& folder, FileSystem& files) {
  fs::path site = folder / "site";
  std::string text;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const ImageSource& source = sources[i];
    std::string options = source.suite.options;
    if (!source.keyring.empty()) {
      const std::string name = fmt::format("key-{}.gpg", i);
      files.write_output(site / name, source.keyring);
      options.insert(0, fmt::format("Signed-By: {}{}\n", kSiteInside, name));
    }
    text += deb822_of(source.suite, source.uri, options);
  }
  files.write_output(site / "archives.sources", text);
  files.write_output(site / "apt.conf",
                     fmt::format("Dir::Etc::SourceList \"{}archives.sources\";\n", kSiteInside));
  return site;
}

DebianArchive::DebianArchive(const StepSetup& setup, const std::string& base, const fs::path& site,
                             const MirrorFolder& mirror, const fs::path& folder)
    : setup_(setup), mirror_(mirror), folder_(folder) {
  const std::string conf = setup.files.read(site / "apt.conf").value_or("");
  const std::string inside = source_list_of(conf);
  if (!inside.starts_with(kSiteInside))
    throw Error(ExitCode::input,
                fmt::format("{} does not say where its packages come from on this machine", base),
                "a machine that mirrors Debian has Debian's archives among its apt sources (docs/site.md)");
  const std::string here = site.string() + "/";
  site_conf_ = replaced_all(conf, kSiteInside, here);
  const std::string text = setup.files.read(replaced_all(inside, kSiteInside, here)).value_or("");
  sources_ = apt_sources(replaced_all(text, kSiteInside, here));
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
  for (const AptSource& source : sources_) text += deb822_of(source.suite, source.uri, source.suite.options);
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

// The files of a source's lists, and what each is called below its folder of lists. `signed_list`: what their
// names begin with.
std::vector<std::pair<fs::path, std::string>> DebianArchive::lists_of(const AptSource& source,
                                                                      std::string& signed_list) {
  const CommandResult listed =
      apt({"apt-get", "indextargets", "--no-release-info", "--format",
           "$(FILENAME)\t$(METAKEY)\t$(REPO_URI)\t$(RELEASE)", "Created-By: Packages"},
          machine_, true);
  must(listed, "cannot read the lists of " + source.suite.suite);
  const auto alike = std::ranges::count_if(
      sources_, [&](const AptSource& one) { return one.suite.suite == source.suite.suite; });
  std::vector<std::pair<fs::path, std::string>> lists;
  for (std::string_view line : split(listed.output, '\n')) {
    const auto parts = split(line, '\t');
    if (parts.size() != 4 || parts[3] != source.suite.suite) continue;
    if (alike > 1 && plain_uri(parts[2]) != plain_uri(source.uri)) continue;
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
  return lists;
}

MirrorSuite DebianArchive::keep_lists(const AptSource& source, std::vector<MirrorItem>& items) {
  MirrorSuite suite = source.suite;
  const bool is_flat = suite.suite == kFlatSuite;
  const std::string name = is_flat ? "flat" : suite.suite;
  std::string signed_list;
  auto lists = lists_of(source, signed_list);
  const std::string text = setup_.files.read(signed_list + "InRelease")
                               .value_or(setup_.files.read(signed_list + "Release").value_or(""));
  std::vector<std::pair<std::string, Digest>> kept;
  for (auto& [file, path] : lists) {
    const std::string bytes = signed_bytes(file, path, text);
    const Digest digest = mirror_.put(
        {}, [&](const auto& sink) { sink(bytes); }, path);
    kept.emplace_back(path, digest);
    if (path == "InRelease" || (path == "Release" && suite.folder.empty()))
      suite.folder = fmt::format("apt/{}-{}", name, digest.hex().substr(0, 12));
  }
  if (suite.folder.empty())
    throw Error(ExitCode::network,
                fmt::format("apt has no signed list of {} {}", plain_uri(source.uri), suite.suite));
  const std::string below = is_flat ? suite.folder + "/" : fmt::format("{}/dists/{}/", suite.folder, name);
  for (const auto& [path, digest] : kept) {
    const std::string own_folder = path.substr(0, path.rfind('/') + 1);  // "" without one
    std::vector<std::string> names = {below + path};
    if (is_flat || !own_folder.empty())
      names.push_back(fmt::format("{}{}by-hash/SHA256/{}", below, own_folder, digest.hex()));
    for (const std::string& inside : names) {
      mirror_.link(inside, digest);
      const std::uint64_t size = fs::file_size(mirror_.path(inside));
      items.push_back({MirrorKind::index, name + " " + path, inside, digest, size});
    }
  }
  return suite;
}

// A key of the site's or of an image's; Debian's is in every image of Debian.
void DebianArchive::keep_key(MirrorSuite& suite, std::vector<MirrorItem>& items) {
  constexpr std::string_view kKey = "Signed-By: ";
  const std::size_t at = suite.options.find(kKey);
  if (at == std::string::npos) return;
  const std::size_t start = at + kKey.size();
  const std::string file = suite.options.substr(start, suite.options.find('\n', start) - start);
  if (!file.starts_with(folder_.string() + "/")) return;
  const Digest digest = mirror_.put_file(file, {});
  const std::string inside =
      fmt::format("keys/{}{}", digest.hex().substr(0, 16), fs::path(file).extension().string());
  mirror_.link(inside, digest);
  items.push_back({MirrorKind::key, inside, inside, digest, fs::file_size(file)});
  suite.options.replace(start, file.size(), inside);
}

MirrorArchive DebianArchive::fetch_lists(const std::string& name, const std::string& architecture,
                                         std::vector<MirrorItem>& items) {
  configure_machine(architecture);
  must(apt({"apt-get", "-qq", "update"}, machine_, false), "cannot fetch the lists of packages");
  MirrorArchive archive{name, architecture, "", {}};
  for (const AptSource& source : sources_) {
    MirrorSuite suite = keep_lists(source, items);
    keep_key(suite, items);
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
    text += deb822_of(suite, copy_uri(mirror_.path(suite.folder).string()), options);
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
      std::string refused;  // a line of a name that a mirror keeps nothing by
      for (std::string_view line : split(result.output, '\n'))
        if (auto package = listed_package(line, archive, mirror_.root().string()))
          answer.found.push_back(*std::move(package));
        else if (refused.empty())
          refused = without_controls(line);
      if (answer.found.size() < left.size())
        throw Error(ExitCode::network,
                    fmt::format("apt found {} of {} packages{}{}", answer.found.size(), left.size(),
                                refused.empty() ? "" : ", and not: ", refused));
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

// Archives of the same suite and components, as of flat ones, are told apart by their order among these.
std::string DebianArchive::uri_of(const MirrorArchive& archive, std::size_t suite) const {
  const MirrorSuite& asked = archive.suites[suite];
  auto is_like = [&](const MirrorSuite& one) {
    return one.suite == asked.suite && one.components == asked.components;
  };
  auto before =
      std::count_if(archive.suites.begin(), archive.suites.begin() + static_cast<long>(suite), is_like);
  for (const AptSource& source : sources_)
    if (is_like(source.suite) && before-- == 0) return source.uri;
  throw Error(ExitCode::input,
              fmt::format("none of the sources of packages has the suite {} any more", asked.suite));
}

void DebianArchive::fetch_some(const MirrorArchive& archive,
                               const std::vector<const ListedPackage*>& packages) {
  const fs::path place = folder_ / "fetched";
  setup_.files.remove_all(place);
  setup_.files.make_directories(place);
  std::vector<std::string> words = {kHelper, "download-file"};
  for (const ListedPackage* package : packages) {
    std::string path = replaced_all(replaced_all(package->path, "+", "%2b"), "~", "%7e");
    words.insert(words.end(), {uri_of(archive, package->suite) + "/" + path,
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
    throw Error(ExitCode::network, fmt::format("cannot fetch {}: {}", first, last_lines(result.tail, 1)),
                "an archive keeps a package only until the next one: `kiln lock --update`, build, and mirror "
                "today's packages");
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
