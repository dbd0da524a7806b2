// The contents of one legacy file, in any format. Used by the import only.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/import/import.h"
#include "factory/source/definition_file.h"
#include "factory/source/dockerfile.h"
#include "factory/source/shell.h"

namespace kiln {

// A value with the line that says it.
struct Said {
  std::string value;
  int line = 0;
  bool operator==(const Said& other) const { return value == other.value; }
};
using SaidMap = std::map<std::string, Said>;

// The packages and variables of its scripts.
struct LegacyFacts {
  SaidMap pip;        // normalised name → "==1.4.0", ">=2", "" without a version
  SaidMap wheels;     // the same of wheels that are named by their file: name → "1.4.0"
  SaidMap packages;   // of apt, yum, dnf; name → "=version" or ""
  SaidMap conda;      // name → version or ""
  SaidMap clones;     // repository URL → branch, tag or commit, "" when it floats
  SaidMap downloads;  // URL → checksum, where the instruction itself has one
  SaidMap settings;   // exported variables, literal values only
  SaidMap tuning;     // flag of a compiler that says for which processor → ""
  SaidMap options;    // --copt=…, --config=…, -D…, -march=… given to build tools
};

struct LegacyImage {
  std::string path;                  // relative to the imported folder
  std::string stem;                  // "pytorch-1.4-gpu-pip", lower case
  std::vector<std::string> parents;  // definition files whose images it starts from, the first one first
  bool docker = false;
  Said base;              // a registry reference; "" when there is none that can be pulled
  std::string base_file;  // with its line, where `base` is written, when that is in one of `parents`
  int base_line = 0;
  std::set<std::string> given_bases;  // its bases that --base replaces
  std::string library;  // server of a base that comes from the Singularity library, where the file names one
  std::string base_body;  // of `parents`, as `body`
  std::map<std::string, std::string> base_files;
  std::string body;        // shell, for `/bin/sh -eu` in a folder that holds `files`; "" when the base is all
  std::string build_body;  // the same for the stage that is thrown away
  Said build_base;         // of that stage, where it is not `base`
  std::vector<std::string> copies;  // paths that the image copies from that stage
  SaidMap environment;
  std::string test;                          // shell, "" without a test
  std::map<std::string, std::string> files;  // path in the recipe → bytes
  std::set<std::string> programs;            // of `files`, those that may be run: a recipe's files may not
  LegacyFacts facts;
  std::vector<ImportNote> notes;

  // Of the image; notes what no recipe can say, and what only the build needs.
  void set_environment(const std::string& name, const std::string& value, int line);
  void note_given_base(const std::string& written, const std::string& given, int line);
  void note_build_base(const std::string& build, int line);  // of a stage that the image copies from
  void note(int line, std::string rule, std::string text) {
    notes.push_back({path, line, std::move(rule), std::move(text)});
  }
};

// The folder that is imported.
struct LegacyTree {
  const FileSystem& files;
  fs::path root;
  std::vector<std::string> paths;  // of definitions, relative, sorted
  // Of each, what its local files are called after in a recipe: its stem, with a number where several have
  // it.
  std::map<std::string, std::string> file_folders = {};
  std::map<std::string, std::string> unreadable = {};  // folder → why
  std::map<std::string, std::string> bases = {};       // ImportOptions::bases
  std::string architecture = "amd64";                  // of images that name no target, in OCI's words
};

// All definitions below `root`.
LegacyTree find_definitions(const FileSystem& files, const fs::path& root);
// Text of a definition of the tree, without CR, which shells reject, and without secrets. Each secret becomes
// a note if `notes` is given. Throws Error(input) for other encodings, and for a link to anything outside of
// the tree.
std::string read_definition_text(const LegacyTree& tree, const std::string& path,
                                 std::vector<ImportNote>* notes = nullptr);
// Parts of letters, digits and _ . + - @, no "..": what a recipe's files and copied paths may be called.
bool is_recipe_path(std::string_view path);

// Throw Error(input) when the text is no such file, or has nothing to start from.
LegacyImage read_legacy_dockerfile(const LegacyTree& tree, const std::string& path, const std::string& text);
LegacyImage read_legacy_definition(const LegacyTree& tree, const std::string& path, const std::string& text);

// Reads what the scripts of a file do, one after the other, into image.facts. Makes notes for inputs that
// float, have no checksum, or are bound to the building machine.
class FactReader {
 public:
  explicit FactReader(LegacyImage& image) : image_(image) {}  // REQUIRES: outlives this
  // `line_of` maps offsets in `text` to lines of the file.
  void script(std::string_view text, std::function<int(std::size_t)> line_of);
  void finish();  // after the last script
  // Names that scripts may use: ARG, ENV, and what scripts set themselves.
  std::map<std::string, std::string> variables;

 private:
  using Words = std::vector<ShellToken>;
  void command(const ShellCommand& command);
  void fill_in(ShellToken& word) const;
  void run(std::string tool, Words words);
  void pip(const Words& words);
  void pip_clone(const ShellToken& token);
  void requirements(const std::string& path, int line);
  void wheel(const ShellToken& token);
  void system_packages(const Words& words, std::size_t at);
  void conda(const Words& words, std::size_t at);
  void clone(const Words& words);
  void checkout(const Words& words);
  void download(const Words& words);
  void set(const Words& words, std::size_t at);
  void options(const Words& words);
  int line(const ShellToken& token) const { return line_of_(token.span.begin); }

  LegacyImage& image_;
  std::function<int(std::size_t)> line_of_;
  std::string last_clone_;
  bool checks_sums_ = false;
};

// The files that match a pattern in the last part of `source` ("scripts/*.sh"), by name; `source` itself if
// it has no pattern or nothing matches.
std::vector<std::string> matching_sources(const LegacyTree& tree, const LegacyImage& image,
                                          const std::string& source);

// Puts a file or folder of the tree, named relative to the legacy file's folder (or to the root), into
// image.files under "files/". Returns the path there, or "" with a note.
std::string copy_from_tree(const LegacyTree& tree, LegacyImage& image, const std::string& source, int line);

// The command that makes what copy_from_tree() returned runnable again where it was copied to; "" for nothing
// that was runnable. `destination` may be the file's own name or the folder that it lies in.
std::string make_runnable(const LegacyImage& image, const std::string& taken, const std::string& destination);

// Differences between a Dockerfile and the definition file next to it.
std::vector<ImportDifference> twin_drift(const LegacyImage& docker, const LegacyImage& definition);

}  // namespace kiln
