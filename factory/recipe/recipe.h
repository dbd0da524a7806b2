// A recipe: one component, its versions, its install methods and the scripts that do the work. On disk:
// recipes/<kind>/<name>/recipe.json and the files it names; "shared:<path>" names recipes/shared/<path>,
// which scripts find next to their own files, without its folders. Schema: `kiln schema recipe`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/base/version.h"
#include "factory/recipe/optimise.h"
#include "factory/site/own_limits.h"

namespace kiln {

// Declaration order is layering order where nothing else decides.
enum class Kind {
  base,
  toolchain,
  library,
  framework,
  compiler,
  distributed,
  runtime,
  workload,
  application
};

std::string_view name_of(Kind kind);
std::optional<Kind> kind_from(std::string_view name);
const std::vector<std::string>& kind_names();

// A file of the recipe, whose bytes enter keys.
struct RecipeFile {
  std::string path;  // under which scripts find it: no "..", "/"-separated
  Digest digest;
  std::string bytes;
  fs::path source{};  // where it was read from; never in a key
};

// Folder of a root, next to the kinds: files that several recipes name as "shared:<path>".
inline constexpr std::string_view kSharedFolder = "shared";

using ComponentKey = std::pair<Kind, std::string>;

// Another component in the same image, in all or some of its versions: "framework/tensorflow",
// "base/cuda@>=12 <13".
struct Companion {
  ComponentKey component;
  VersionRange range{};
  SourceLocation where{};
  bool operator==(const Companion& other) const {
    return component == other.component && range.text() == other.range.text();
  }
};

// Conditions of a need, a test or a file of a method: all stated ones must match.
struct When {
  VersionRange version;  // of the component itself
  std::string target;    // a glob over the target (Target::matches); "" = every target
  // Of a file only: what an image has follows from the needs, so no need can ask for it.
  std::optional<Companion> with{};
  bool always() const { return version.is_any() && target.empty() && !with; }
  bool operator==(const When& other) const {
    return version.text() == other.version.text() && target == other.target && with == other.with;
  }
};

// A variable of the image. "{NAME}" in the variable NAME is the value that the components of lower layers
// give it.
struct EnvironmentValue {
  std::string value;
  std::optional<Companion> with{};  // only in images that have this; nullopt = in all
};

// "This component must be in the image too": {"kind": "toolchain", "name": "python", "version": ">=3.11"}.
// Missing ones are added by `resolve` in their newest fitting version, except frameworks and bases, which the
// cell itself must choose. With `any`, one of those must be, and kind, name and range say nothing.
struct Need {
  Kind kind = Kind::library;
  std::string name;
  VersionRange range;
  SourceLocation where;
  When when{};
  std::vector<Need> any{};  // in order of preference; none of these has an `any`
};

// The stage that is thrown away: its tools and sources never reach the image.
struct BuildStage {
  std::vector<Need> needs;
  std::string script;
  std::vector<std::string> copy;          // absolute paths that the image keeps
  std::vector<std::string> secrets = {};  // as Method::secrets, of this script
  // Absolute paths that Method::script sees at their places while it runs, and that are in no layer: a wheel
  // to install. Not all of copy and mount are empty.
  std::vector<std::string> mount = {};
};

struct Method {
  std::string name;        // hub, pip, distro, vendor, source
  bool optimised = false;  // an "opt build" in the DSL's sense: made for the target, or replaces a stock part
                           // by a faster one
  bool stock = false;      // the project's own build, with which others are compared
  std::string image;       // base only: OCI reference to pull (may contain {version}); "" otherwise
  std::string
      rootfs;  // base only: script that writes a root file system as tar to $KILN_OUTPUT, on the build host
  std::string archive;  // with rootfs: script that prints the state of the package archives that it reads
  std::string site;     // with rootfs: script that writes how the build machine reaches packages
  std::string script;   // run inside the image; "" when there is nothing to install (built in)
  std::vector<std::string> files;       // further files that the scripts read
  std::vector<When> file_when{};        // one for each of `files`; empty where all always are
  std::vector<std::string> parameters;  // environment variables that the scripts read (recipe/parameters.h)
  std::vector<std::string> secrets;     // names of files that the site provides while the script runs
  std::vector<std::string> cache{};     // that script and build script find again (parameters.h); in no key
  std::vector<Need> needs;              // in the image, at run time
  std::vector<std::string> after;       // kinds or names that are below this one if both are in the image
  std::vector<SourceLocation> after_where;  // one for each of `after`
  std::optional<BuildStage> build;
  std::map<std::string, EnvironmentValue> environment;  // of the final image
  VersionRange versions;                                // versions this method offers, default all
  Optimise optimise;                                    // of its scripts, where the cell says nothing else
  OwnLimits limits;                                     // that its steps and tests need; in no key
  SourceLocation where;
};

// The pinned inputs of one version and method of a base (recipe/lockfile.h). By architecture, in OCI's words.
struct Pin {
  std::map<std::string, Digest> digests;        // of the manifest of the image to pull
  std::map<std::string, std::string> archives;  // KILN_ARCHIVE of the rootfs script
};

// The version of the same base for build stages, with the compilers and headers that images on this one lack.
// Both have the method.
struct BuildBase {
  Version version;
  SourceLocation where;
};

struct ComponentVersion {
  Version version;
  std::map<std::string, std::string>
      facts;  // {"python": "3.13"}: scripts see KILN_FACT_PYTHON, constraints see framework.python
  std::string source_url;       // "" when the method needs no download
  std::string source_checksum;  // sha256:… or git:<40 hex>
  SourceLocation where;
  std::map<std::string, Pin> pins{};                // by method; empty without a lockfile
  std::optional<BuildBase> build_on{};              // of a base
  std::string fact(const std::string& name) const;  // "" when there is none of that name
};

// The image that `version` of a base pulls by `method`: {version} is filled in. "" for a rootfs method.
std::string base_reference(const Method& method, const Version& version);

// A test proves that the component is active in the image. Run as `/bin/sh -eu SCRIPT` with the recipe's
// files in the current folder; exit 0 = proven. Networkless.
struct SmokeTest {
  std::string script;
  std::vector<std::string> files;
  When when{};
};

// A file of images that may hold code beyond their target: binaries of others that ask the processor first in
// a way that the evidence cannot see.
struct AcceptedFile {
  std::string file;    // a glob over its path in the image, which begins with "/"
  std::string reason;  // why that is right
  bool operator==(const AcceptedFile&) const = default;
};

// An AcceptedFile of a recipe, and where it holds: in the layers that this component made, and no others. It
// changes the description of an image and none of its bits, so it is in no key. It is in a label of the
// image, which makes the name of the image's record another: kiln packages the image again, and runs no step.
struct Acceptance {
  AcceptedFile file;
  std::string method;     // "" = every method
  VersionRange versions;  // of the component
  SourceLocation where;
};

// Where newer versions of a component come from: a package of a Python package index, or the tags of a git
// repository. No input of an image.
struct Upstream {
  std::string package;     // "" when it is a repository
  std::string repository;  // anything that git asks
  std::string tags;        // of the repository: one '*' stands for the version
  VersionRange versions;   // those worth a proposal
  SourceLocation where;
};

struct Recipe {
  Kind kind = Kind::framework;
  std::string name;
  std::string description;
  std::string licenses;  // SPDX expression
  std::string homepage;
  // Its role in an image, for example "allocator": an image has at most one component of a role; "" = no
  // role.
  std::string role{};
  std::vector<ComponentVersion> versions;   // newest first
  std::vector<Upstream> upstream{};         // in the file's order
  std::vector<Method> methods;              // in the file's order; the first is the default
  std::vector<SmokeTest> tests;             // all that hold are run
  std::vector<Acceptance> accept{};         // in the file's order
  std::map<std::string, RecipeFile> files;  // every file named above, by path
  fs::path folder;                          // where it was read from; never in a key
  std::string file;                         // path of recipe.json, for messages

  const ComponentVersion* find_version(const Version& version) const;
  const Method* find_method(std::string_view name) const;
  std::vector<AcceptedFile> accepted(const Version& version, std::string_view by_method) const;
};

// A component with a wrong recipe: no image uses it.
struct BrokenRecipe {
  Recipe read;  // the readable part: kind, name, file, and the versions if they are well formed
  Error why;    // Error(input)
};

// All components, found under recipes/<kind>/<name>/recipe.json of one or more roots (later roots win by
// name, for shared files as well). A wrong recipe is kept apart, with its error: it affects only the cells
// that need it.
class RecipeBook {
 public:
  // Reads every file that a recipe names, and looks at what only all recipes together show
  // (reference_faults). Throws Error(input) for a missing root.
  static RecipeBook read(const FileSystem& files, const std::vector<fs::path>& roots);
  void add(Recipe recipe);
  void add_broken(BrokenRecipe recipe);  // in place of one of that name

  const Recipe* find(Kind kind, std::string_view name) const;
  const std::map<ComponentKey, Recipe>& all() const { return components_; }
  std::vector<std::string> names(Kind kind) const;

  const BrokenRecipe* find_broken(Kind kind, std::string_view name) const;
  const std::map<ComponentKey, BrokenRecipe>& broken() const { return broken_; }
  // Folders that are no kind of component: their files are no recipes.
  const std::vector<Error>& misplaced() const { return misplaced_; }
  void refuse_broken() const;  // throws the first error of both

 private:
  void read_folder(const FileSystem& files, const std::vector<fs::path>& roots, const fs::path& folder,
                   ComponentKey key);

  std::map<ComponentKey, Recipe> components_;
  std::map<ComponentKey, BrokenRecipe> broken_;
  std::vector<Error> misplaced_;
};

// The names of the components of a kind in these roots, sorted, by their folders: no recipe is read, and a
// root need not be there.
std::vector<std::string> recipe_names(const FileSystem& files, const std::vector<fs::path>& roots, Kind kind);

// One recipe.json. `file` is its path, `…/<kind>/<name>/recipe.json`, which gives kind and name; the files
// that it names are read through `files`, shared ones from the last of `roots` that has them, else from its
// own root. Throws Error(input).
Recipe read_recipe(std::string_view json, const fs::path& file, const FileSystem& files,
                   const std::vector<fs::path>& roots = {});
// The same, but an error is kept with what was read before it.
std::variant<Recipe, BrokenRecipe> try_recipe(std::string_view json, const fs::path& file,
                                              const FileSystem& files,
                                              const std::vector<fs::path>& roots = {});

// Error(input) of each component with a need that names no component of the book or a range without a
// version, or an `after` that names neither a kind nor a component; and of each one in a circle of needs.
// Needs of a broken recipe are not checked.
std::map<ComponentKey, Error> reference_faults(const RecipeBook& recipes);

}  // namespace kiln
