// The data that `kiln build` passes to each step of one run of ninja, in addition to the plan:
// builds/<plan>/terms.json, which `kiln step` gets as --terms.
#pragma once

#include <cstdint>
#include <string>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/site/site.h"

namespace kiln {

struct StepTerms {
  std::string run;                 // of kiln: in the comments of its jobs of Slurm; "": none
  bool of_ninja = false;           // ninja itself starts the step: it is its parent, and leads its session
  std::int64_t no_step_after = 0;  // Unix seconds after which no step begins, but tests do; 0: no end
  bool fetch = true;               // else it is run here even if another builder has run it
  int at_once = 0;                 // the steps of the build that share this machine's processors; 0: unknown
  // As the options of the same names.
  std::string site{}, engine{}, mirror{};
  bool no_cache = false, offline = false;
  bool operator==(const StepTerms&) const = default;
};

// The settings of the site file in use.
StepTerms terms_of(const Site& site);

Json to_json(const StepTerms& terms);
// Throws Error(input) for a file that is missing or damaged.
StepTerms read_step_terms(const FileSystem& files, const fs::path& file);

}  // namespace kiln
