#include "factory/mirror/mirror_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "factory/base/read_whole.h"
#include "factory/oci/layout.h"

namespace kiln {
namespace {

constexpr const char* kManifest = "mirror.json";
constexpr const char* kLinks = "pip/links.html";
constexpr JsonLimits kManifestLimits{256u << 20, 16, 1u << 20, 20'000'000};

// nullopt: it is not there.
std::optional<Digest> digest_of(const fs::path& file) {
  Hasher hasher;
  const bool there = read_pieces(file, std::numeric_limits<std::int64_t>::max(),
                                 [&](std::string_view piece) { hasher.update(piece); });
  return there ? std::optional(hasher.finish()) : std::nullopt;
}

// sha256/aa/<hex>, as seen from the folder of `inside`.
fs::path target_of(const std::string& inside, const Digest& digest) {
  fs::path up;
  for (auto parts = std::ranges::count(inside, '/'); parts > 0; --parts) up /= "..";
  return up / "sha256" / digest.hex().substr(0, 2) / digest.hex();
}

// All that a build takes of a layout: its image's manifest, configuration and layers.
std::string fault_of_layout(const fs::path& layout, const FileSystem& files) {
  const std::vector<Descriptor> manifests = layout_manifests(layout);
  if (manifests.empty()) return files.exists(layout / "index.json") ? "is damaged" : "is missing";
  auto is_damaged = [&](const Descriptor& blob) {
    return digest_of(blob_in_layout(layout, blob.digest)) != blob.digest;
  };
  if (std::ranges::any_of(manifests, is_damaged)) return "is damaged";
  const bool whole = unless_error([&] {
    const Manifest manifest = read_layout(layout, files).manifest;
    return !is_damaged(manifest.config) && std::ranges::none_of(manifest.layers, is_damaged);
  });
  return whole ? "" : "is damaged";
}

}  // namespace

MirrorFolder::MirrorFolder(fs::path root, FileSystem& files) : root_(std::move(root)), files_(files) {}

bool MirrorFolder::is_there() const { return files_.exists(root_ / kManifest); }

Mirror MirrorFolder::read() const {
  const fs::path file = root_ / kManifest;
  const auto text = files_.read(file);
  if (!text) return {};
  try {
    return read_mirror(JsonDocument::parse(*text, file.string(), kManifestLimits));
  } catch (const Error& error) {
    throw Error(
        ExitCode::input, error.where(), error.message(),
        "where it is damaged, remove it: `kiln mirror -f MATRIX DIR` makes it again of what lies there");
  }
}

bool MirrorFolder::has_links(const Mirror& mirror) const {
  return files_.read(root_ / kLinks) == links_page(mirror);
}

void MirrorFolder::drop_temporary() const {
  files_.remove_all(temporary());
  files_.make_directories(temporary());
}

Digest MirrorFolder::index_of(const MirrorItem& image) const {
  return digest_of(path(image.path) / "index.json").value_or(Digest());
}

void MirrorFolder::write(const Mirror& mirror) const {
  files_.write(root_ / kLinks, links_page(mirror));
  files_.write(root_ / kManifest, to_json(mirror).dump(1) + "\n");
}

fs::path MirrorFolder::file_of(const Digest& digest) const {
  return root_ / "sha256" / digest.hex().substr(0, 2) / digest.hex();
}

bool MirrorFolder::is_whole(const Digest& digest) const { return digest_of(file_of(digest)) == digest; }

Digest MirrorFolder::put(const Digest& expected,
                         const std::function<void(const std::function<void(std::string_view)>&)>& write,
                         const std::string& name) const {
  make_durable_folder(temporary());
  DurableFile file(temporary());
  Hasher hasher;
  write([&](std::string_view bytes) {
    file.write(bytes.data(), bytes.size());
    hasher.update(bytes);
  });
  Digest digest = hasher.finish();
  if (!expected.empty() && digest != expected)
    throw Error(ExitCode::network,
                fmt::format("{} has the digest {}, expected {}", name, digest.text(), expected.text()),
                "the file there was changed after its digest was recorded");
  file.publish(file_of(digest));
  return digest;
}

Digest MirrorFolder::put_file(const fs::path& file, const Digest& expected) const {
  return put(
      expected,
      [&](const std::function<void(std::string_view)>& sink) {
        if (!read_pieces(file, std::numeric_limits<std::int64_t>::max(), sink))
          throw Error(ExitCode::store, "there is no file " + file.string());
      },
      file.filename().string());
}

void MirrorFolder::link(const std::string& inside, const Digest& digest) const {
  if (!is_inside(inside)) throw Error(ExitCode::store, fmt::format("'{}' is no path in a mirror", inside));
  if (is_linked(inside, digest)) return;
  const fs::path place = root_ / inside;
  fs::path aside = place;
  aside += ".new";
  std::error_code problem;
  fs::create_directories(place.parent_path(), problem);
  fs::remove(aside, problem);
  fs::create_symlink(target_of(inside, digest), aside, problem);
  if (!problem) fs::rename(aside, place, problem);
  if (problem)
    throw Error(ExitCode::store, fmt::format("cannot make {}: {}", place.string(), problem.message()));
}

bool MirrorFolder::is_linked(const std::string& inside, const Digest& digest) const {
  std::error_code problem;
  return fs::read_symlink(root_ / inside, problem) == target_of(inside, digest);
}

std::string MirrorFolder::fault_of_repository(const MirrorItem& item, CommandRunner& runner,
                                              const std::map<std::string, std::string>& environment) const {
  // All that the commit reaches is there, and has the digests that it says.
  const CommandResult result = runner.ask(
      {"git", "-c", "safe.directory=*", "-C", path(item.path).string(), "fsck", "--no-dangling", item.commit},
      environment);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  return result.ok() ? "" : "is damaged";
}

bool MirrorFolder::has(const MirrorItem& item) const {
  if (item.kind == MirrorKind::commit) return files_.is_directory(path(item.path));
  if (item.kind == MirrorKind::image) return files_.exists(path(item.path) / "index.json");
  return files_.exists(file_of(item.digest)) && is_linked(item.path, item.digest);
}

std::string MirrorFolder::fault_of(const MirrorItem& item, CommandRunner& runner,
                                   const std::map<std::string, std::string>& environment) const {
  if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
  if (!has(item)) return "is missing";
  if (item.kind == MirrorKind::commit) return fault_of_repository(item, runner, environment);
  if (item.kind == MirrorKind::image)
    return item.digest.empty() || index_of(item) == item.digest ? fault_of_layout(path(item.path), files_)
                                                                : "is damaged";
  return is_whole(item.digest) ? "" : "is damaged";
}

std::string links_page(const Mirror& mirror) {
  std::string page = "<!DOCTYPE html>\n<html><body>\n";
  for (const auto& [path, item] : mirror.items) {
    if (item.kind != MirrorKind::wheel) continue;
    const std::string name = path.substr(path.rfind('/') + 1);
    page +=
        fmt::format("<a href=\"{}/{}#sha256={}\">{}</a>\n", item.digest.hex(), name, item.digest.hex(), name);
  }
  return page + "</body></html>\n";
}

}  // namespace kiln
