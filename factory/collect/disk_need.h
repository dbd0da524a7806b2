// Predicts how much a build will write, from earlier writes of the nearest kind of step and image.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/state/state.h"

namespace kiln {

// Bytes that were written before, as the records of a state folder say.
struct KnownSizes {
  // Of a step's own layers, compressed; by its title ("pytorch 2.6.0 (distro)") and by the title's first
  // word.
  std::map<std::string, std::vector<std::uint64_t>> steps;
  std::map<std::string, std::vector<std::uint64_t>> images;  // of SIFs, by repository
};
// Damaged records count for nothing.
KnownSizes known_sizes(const StatePaths& state, const FileSystem& files);

struct ImageToMake {
  std::string repository;
  std::vector<std::string> steps;  // titles of those that it lacks, tests left out
  bool sif = true;
};

struct DiskNeed {
  std::uint64_t bytes = 0;  // layers, with what the engine unpacks of them, and SIFs
  std::uint64_t least = 0;  // layers and SIF of the smallest image; 0 where one is of an unknown kind
  std::size_t known = 0;    // of the steps and SIFs
  std::size_t unknown = 0;  // nothing of their kind was made here before; they count for nothing
};
// `steps`: titles of all steps to run, each once, however many images lack it.
DiskNeed disk_need(const std::vector<std::string>& steps, const std::vector<ImageToMake>& images,
                   const KnownSizes& sizes);

}  // namespace kiln
