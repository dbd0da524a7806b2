// kiln import: existing Dockerfiles and definition files → recipes and a matrix that asks for exactly their
// images, a list of what could not be carried over, and where a Dockerfile and its Singularity twin disagree.
// docs/import.md. Pure but for the FileSystem that it reads.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/recipe/matrix.h"
#include "factory/resolve/resolve.h"
#include "factory/source/source_file.h"

namespace kiln {

struct ImportOptions {
  std::string name = "imported";            // of the matrix
  std::string cpu = "x86_64";               // target of images that name none
  std::string gpu = "nvidia:sm_70";         // accelerator of GPU images that name none
  std::vector<std::string> compilers = {};  // graph compilers that there are, by which files may be named
  // The bases of the files, as they write them → the image of a registry that replaces each.
  std::map<std::string, std::string> bases = {};
};

// Something that the recipes do not say, or say differently.
struct ImportNote {
  std::string file;  // relative to the imported folder
  int line = 0;      // 0: the file as a whole
  std::string rule;  // stable name: "user", "floating-base", …; docs/import.md lists them
  std::string text;
  bool operator==(const ImportNote&) const = default;
};

// A Dockerfile and its twin say two things.
struct ImportDifference {
  std::string what;  // "pip torch", "base", "environment CUDA_HOME"
  std::string file;
  int line = 0;
  std::string here;  // "" where one of them says nothing
  std::string other_file;
  int other_line = 0;
  std::string there;
};

struct ImportedImage {
  AxisValues axes;
  std::vector<std::string> files;  // one, or the two twins
};

// A file that `kiln generate` wrote: there is nothing to import, as its recipes are there already.
struct OwnOutput {
  std::string file;
  std::string cell;               // "pytorch-2.6.0-distro-x86_64-debian_trixie"
  std::string key;                // of the image, 64 hex digits
  std::set<std::string> recipes;  // "framework/pytorch"
};

struct Import {
  std::map<std::string, std::string> files;  // path → bytes, to be written
  std::string matrix;                        // path of the matrix among them
  std::vector<ImportedImage> images;
  std::vector<OwnOutput> own;                 // by file
  std::vector<ImportNote> notes;              // by file and line
  std::vector<ImportDifference> differences;  // by file and line
};

// Reads every file below `root` that is named like a definition (Dockerfile*, *.dockerfile, Singularity*,
// *.def), but for folders whose name starts with a dot. A file that cannot be parsed becomes a note. Throws
// Error(input) if there is no such file, if kiln generated all of them, or if they yield no image.
Import import_folder(const FileSystem& files, const fs::path& root, const ImportOptions& options,
                     const Microarchitectures& cpus);

// `file:line: … [rule]` and `file:line: differs: … / other:line: …`, one line each.
std::string format(const ImportNote& note);
std::string format(const ImportDifference& difference);
Json to_json(const Import& import);

}  // namespace kiln
