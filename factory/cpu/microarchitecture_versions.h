// Compiler versions as archspec compares them; only for microarchitecture*.cc.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace kiln::archspec {

// The numbers of a dotted version without their leading zeros, so that of two the longer text is the greater
// number.
using VersionParts = std::vector<std::string_view>;

// nullopt: not dot separated ASCII digits.
std::optional<VersionParts> split_version(std::string_view text);

// A range such as "4.9:8.0" or "10.0.1:". A side may carry a suffix ("-apple"), which archspec ignores.
struct VersionBounds {
  std::optional<VersionParts> least;
  std::optional<VersionParts> most;
};
// nullopt: not two versions around one colon. The parts point into `text`.
std::optional<VersionBounds> split_bounds(std::string_view text);

// How an upper bound is understood: as archspec does (12.2 excludes 12.2.0), or with all its patch releases.
enum class UpperBound { exact, with_patch_releases };

bool admits(const VersionBounds& bounds, VersionParts version, UpperBound upper_bound);

}  // namespace kiln::archspec
