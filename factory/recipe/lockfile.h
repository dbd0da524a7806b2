// The lockfile: the pinned inputs of a plan. `kiln lock` writes it next to the matrix (demo.json →
// demo.lock.json); every command that plans reads it. Schema: `kiln schema lock`.
//
//   {
//     "lock": 2,
//     "archspec": "0.2.5",
//     "components": {
//       "base/ubuntu@18.04:hub": {"image": "docker.io/library/ubuntu:18.04", "digests": {"amd64":
//       "sha256:…"},
//                                 "recipe": "sha256:…", "since": "2026-11-23T10:00:00Z"},
//       "base/debian@trixie:distro": {"archives": {"amd64": "trixie 13.7 4f2c…, …"}, "recipe": "sha256:…"},
//       "library/openblas@0.3.29:source": {"source": {"url": "…", "checksum": "git:…", "ref":
//       "refs/tags/v0.3.29"}, "recipe": "sha256:…"}
//     }
//   }
//
// Version 1 had no "since"; both are read.
// Keys are sorted and there is one entry a component, version and method, so that a change is a line in a
// review.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/recipe/recipe.h"

namespace kiln {

// One component in one version and method. `digests` and `archives` are by architecture, in OCI's words.
struct LockEntry {
  Kind kind = Kind::base;
  std::string name;
  Version version;
  std::string method;
  std::string image;                            // as the recipe has it, {version} filled in
  std::map<std::string, Digest> digests;        // of the platform's manifest, never of an image index
  std::map<std::string, std::string> archives;  // output of the recipe's `archive` script
  std::string floating;                         // why nothing pins it; "" when something does or need not
  std::string source_url;
  std::string source_checksum;  // sha256:… or git:<commit>
  std::string source_ref;       // of a commit: the branch or tag of upstream whose history has it
  Digest recipe;                // recipe_digest(): --locked refuses another
  std::string since{};          // rfc3339(): when digests or archives were pinned, or moved last; "" unknown
  SourceLocation where;
};

// Of recipe.json as it lies there, and of the files that it names.
Digest recipe_digest(const Recipe& recipe, const FileSystem& files);

// "base/ubuntu@18.04:hub".
std::string lock_id(Kind kind, const std::string& name, const std::string& version,
                    const std::string& method);

struct Lockfile {
  std::string file;      // for messages
  std::string archspec;  // version of the tables that flags come from
  SourceLocation archspec_where;
  std::map<std::string, LockEntry> entries;  // by lock_id
};

// matrix/demo.json → matrix/demo.lock.json
fs::path lockfile_beside(const fs::path& matrix);

// Throws Error(input): wrong version of the format, unknown keys, one component twice.
Lockfile read_lockfile(const JsonDocument& document);

Json to_json(const Lockfile& lock);
std::string lockfile_text(const Lockfile& lock);  // the bytes of the file; equal locks give equal bytes

// Applies the pins of the lockfile to the recipes of the plan. An entry whose image is not the recipe's any
// more pins nothing.
void pin_recipes(RecipeBook& recipes, const Lockfile& lock);

// The differences of two lockfiles, one line of a table each.
struct LockChange {
  std::string id;    // lock_id, or "archspec"
  std::string what;  // "entry", "image", "digest amd64", "archive amd64", "floating", "source", "recipe"
  std::string before;
  std::string now;  // "" for a removed entry, as `before` is for a new one
  bool operator==(const LockChange&) const = default;
};
std::vector<LockChange> compare_locks(const Lockfile& before, const Lockfile& now);
Json to_json(const LockChange& change);
// "base/ubuntu@18.04:hub: digest amd64 1a2b3c4d5e6f → 9f8e7d6c5b4a".
std::string text_of(const LockChange& change);

}  // namespace kiln
