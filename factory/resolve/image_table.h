// What a Resolution holds: its images, and what they share. Used by resolve only.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/base/packed_map.h"
#include "factory/resolve/parameter_values.h"
#include "factory/resolve/resolve.h"
#include "factory/resolve/step_pattern.h"
#include "factory/resolve/tag.h"

namespace kiln {

// What all cells of one target share.
struct ResolvedTarget {
  Target target;
  std::string architecture;  // OCI's
  std::string tag;           // its part of tags
};

// What all images of equal components share, whatever their targets.
struct Composition {
  std::vector<ComponentUse> components;  // in layering order
  bool optimised = false;
  PackedMap environment;
  // Of an image whose uppermost components are applications: the environment below them.
  std::optional<PackedMap> parent_environment;
  std::string repository;
  TagParts tag;
  PackedMap labels;  // those that the components alone decide
};

struct ImageTable {
  explicit ImageTable(const ResolveInput& input) : patterns(input.engine_family), values(input.cpus) {}

  using Naming = std::array<unsigned char, 6>;  // the second half of a record's name
  struct Image {
    Sha256 key{};
    Naming naming{};
    std::uint32_t cell = 0;  // of the expansion
    StepTable::Number last_step = StepTable::kNone;
    std::uint32_t tests_end = 0;  // in `tests`; they begin where those of the image before end
    const ResolvedTarget* target = nullptr;
    const Composition* composition = nullptr;
  };
  struct Unsolvable {
    std::uint32_t cell;  // of the expansion
    const std::string* reason;
  };

  struct Broken {
    std::uint32_t cell;  // of the expansion
    const Error* why;
    const ResolvedTarget* target;  // null where that is what is broken
  };

  // Hex digits; "" for an image without applications.
  std::string parent_key(std::size_t image) const;
  void close();  // no image is added afterwards

  std::vector<StepTable::Number> tests_of(std::size_t image) const;
  std::string tag(std::size_t image) const;
  ImageSpec spec(std::size_t image, ImageRequest request) const;
  // Where the flags that its scripts and tests got came from, each once.
  std::vector<const FlagOrigin*> flags(StepTable::Number last,
                                       const std::vector<StepTable::Number>& its_tests) const;

  StepTable steps;
  std::deque<Image> images;
  std::map<std::size_t, Sha256> parents;  // keys of the images below applications, by image
  std::deque<StepTable::Number> tests;
  std::deque<Unsolvable> unsolvable;
  std::deque<Broken> broken;

  PatternBook patterns;
  ScriptValueBook values;
  std::deque<ResolvedTarget> targets;
  std::deque<Composition> compositions;
  std::set<std::string> reasons;        // why cells cannot be
  std::map<std::string, Error> faults;  // why they are broken, by its words
};

const std::vector<std::string>& image_command();

}  // namespace kiln
