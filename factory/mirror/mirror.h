// The manifest of a mirror, mirror.json: the items in the folder, and the cells that need each. Schema:
// docs/formats/files.md.
//
//   sha256/<aa>/<64 hex>            every file, by its content
//   apt/<suite>-<12 hex>/dists/…    package archives: the signed lists of one state, and under pool/ the
//                                   packages that are needed; links to the files above. Flat archives have
//                                   no dists/
//   pip/links.html, pip/<hex>/…     wheels and source distributions, as pip's --find-links reads them
//   archives/<hex>/<name>           sources with a checksum
//   git/<name>-<12 hex>.git         bare repositories, each with the commits that are needed
//   images/<16 hex>                 an OCI layout for each base that is pulled
//   mirror.json
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/json.h"

namespace kiln {

// index: InRelease and Packages of an archive; key: what such a list is signed with, where no base has it
// from the start.
enum class MirrorKind { index, key, package, wheel, archive, commit, image };
std::string_view name_of(MirrorKind kind);

// One thing to fetch.
struct MirrorItem {
  MirrorKind kind = MirrorKind::package;
  std::string name;                 // a package, a file's name, a URL or a reference: for people
  std::string path;                 // in the mirror
  Digest digest;                    // of a file; of an image's index.json; empty of a commit
  std::uint64_t size = 0;           // of a file
  std::string commit{};             // of a commit
  std::string source{};             // URL of an archive or a repository, reference of an image
  std::set<std::uint32_t> cells{};  // that need it now: numbers in Mirror::cells
};

// The suite's name for an archive that has neither suites nor components (sources.list(5): an exact path).
inline constexpr std::string_view kFlatSuite = "./";

// A suite of a package archive in one state, as a deb822 source without its URI.
struct MirrorSuite {
  std::string folder;      // apt/trixie-security-0123456789ab
  std::string suite;       // trixie-security; kFlatSuite
  std::string components;  // main; "" of a flat one
  std::string options;     // further lines of the source, each ended: "Signed-By: …\n"
  bool operator==(const MirrorSuite&) const = default;
};

// As a paragraph of apt's sources.
std::string deb822_of(const MirrorSuite& suite, const std::string& uri, const std::string& options);

// The source of a base's packages.
struct MirrorArchive {
  std::string base;          // base/debian@trixie
  std::string architecture;  // OCI's word
  std::string state;         // as the lockfile has it; "" where none pins it
  std::vector<MirrorSuite> suites;
  bool operator==(const MirrorArchive&) const = default;
};

struct Mirror {
  std::vector<std::string> cells;           // "demo/pytorch-…": matrix and cell
  std::vector<MirrorArchive> archives;      // of one base the newest last
  std::map<std::string, MirrorItem> items;  // by path; of a commit, path and commit

  std::uint32_t cell(const std::string& name);  // its number
  // Adds the item, or the cells that need it. Throws Error(store) for a path that leaves the mirror.
  void add(MirrorItem item);
  // The newest archive of a base in this state; in any state where it is "". nullptr without one.
  const MirrorArchive* archive(std::string_view base, std::string_view architecture,
                               std::string_view state) const;
  // A reference names an image for each architecture.
  const MirrorItem* image(std::string_view reference, std::string_view architecture) const;
  const MirrorItem* source(std::string_view url, std::string_view checksum) const;  // archive or commit
  const MirrorItem* wheel(const Digest& digest) const;
  // Removes the needs of this matrix's cells, except for the named ones. An item that no cell needs stays: an
  // earlier lockfile needs it.
  void forget(std::string_view matrix, const std::set<std::string>& but);
};

Json to_json(const Mirror& mirror);
// Throws Error(input): another version, unknown keys, paths that leave the folder.
Mirror read_mirror(const JsonDocument& document);

// Where the layout of a base lies. `architecture`: OCI's word, "" where the plan does not say it.
std::string image_path(std::string_view reference, std::string_view architecture);

// Whether a path that kiln did not make names something inside a folder, in bytes that no program takes for
// anything else.
bool is_inside(std::string_view path);
// The last part of a URL as a name of a file: other bytes than letters, digits, . _ + ~ - are "_".
std::string file_name_of(std::string_view url);

}  // namespace kiln
