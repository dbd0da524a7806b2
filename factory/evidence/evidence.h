// Examines an image, and compares its contents with its declaration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/cpu/microarchitecture.h"
#include "factory/evidence/image_files.h"
#include "factory/evidence/libraries.h"

namespace kiln::evidence {

enum class Verdict {
  conforms,       // nothing that runs unconditionally needs more than the target has
  exceeds,        // something does
  not_optimised,  // nothing does, and where the image promises more than the baseline there is only baseline
  not_judged      // no target was declared, or kiln does not read code of its family
};
std::string_view name_of(Verdict verdict);

// Findings in files of the image that do not count, by its recipes.
struct Acceptance {
  std::string file;  // a glob over the path, which begins with "/"
  std::string reason;
  std::string by;                                   // "framework/xgboost"
  std::optional<std::set<std::uint16_t>> layers{};  // where the files must be; nullopt: anywhere
};

// The declaration of the image.
struct Declaration {
  std::string target;              // archspec's name; "" = none
  std::vector<std::string> flags;  // as given to compilers, for the report
  bool optimised = false;          // promises code beyond the baseline …
  std::set<std::uint16_t> layers;  // … in these layers; empty: anywhere
  std::string library_path;        // LD_LIBRARY_PATH of the image
  std::vector<Acceptance> accept{};
};

// Code of one file that its target cannot run.
struct Excess {
  std::string file;
  std::string feature;
  std::uint64_t functions = 0;
  Witness witness;
  std::string accepted;       // why it does not count; "" = it does
  std::string accepted_by{};  // "framework/xgboost"; "kiln" for the list judged_files.json
};

struct FeatureTotal {
  std::uint64_t files_unconditional = 0;
  std::uint64_t files_dispatched = 0;  // in which it is only chosen at run time
  std::string example;                 // a file, one with unconditional code if there is any
};

struct Evidence {
  Verdict verdict = Verdict::not_judged;
  Declaration declared;
  std::uint64_t elf_files = 0;
  std::uint64_t code_bytes = 0;
  std::vector<Excess> excesses;  // by file, the furthest beyond first
  std::string lowest_target;  // exceeds only: archspec's lowest that all of it runs on; "" when there is none
  std::map<std::string, FeatureTotal> features;  // beyond the baseline
  std::vector<std::string> optimised_features;   // those in the files that promise to be optimised
  GpuCode gpu;
  GlibcNeed glibc;
  std::vector<MissingLibrary> missing;
  std::vector<std::pair<std::string, std::string>> problems;  // file, what
  std::vector<ElfEntry> files;                                // as elf_entries(); of the ImageFiles given

  std::vector<std::string> unconditional() const;  // features, sorted
  std::vector<std::string> dispatched() const;     // features that are nowhere unconditional, sorted
};

// `files` outlives the evidence. Throws Error(usage) for a target that archspec does not know.
Evidence judge(ImageFiles& files, const Declaration& declared, const Microarchitectures& cpus);

// "usr/lib/libx.so: avx512f in kernel() at 0x1139: vpxorq zmm0, zmm0, zmm0".
std::string describe(const Excess& excess);
Json to_json(const Evidence& evidence, bool with_files);
std::string to_table(const Evidence& evidence, bool with_files);

}  // namespace kiln::evidence
