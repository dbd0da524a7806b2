// Targets: what an image is built for. Files: matrix/targets/<name>.json, or just an archspec name.
// Schema: `kiln schema target`.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/cpu/microarchitecture.h"

namespace kiln {

struct Target {
  std::string name;
  std::string cpu;                        // archspec microarchitecture
  std::vector<std::string> accelerators;  // `nvidia:sm_61`, `amd:gfx90a`
  std::string description;

  // The architecture of OCI's platforms: `amd64`.
  std::string platform_architecture(const Microarchitectures& cpus) const;

  // `broadwell,nvidia:sm_61`: what the target is, whatever it is called.
  std::string composition() const;
  // True when the glob matches the name or the composition: "*nvidia*" holds for a named target, too.
  bool matches(std::string_view glob) const;
  bool operator==(const Target&) const = default;
};

// Named targets plus every archspec name as an implicit target; `cpu,accelerator…` works as well:
// `broadwell`, `x86_64_v3,nvidia:sm_80,nvidia:sm_90`.
class TargetBook {
 public:
  // Every *.json of `folder`, which may be absent. One that is wrong is kept apart, with its error. `cpus`
  // must outlive the book.
  static TargetBook read(const FileSystem& files, const fs::path& folder, const Microarchitectures& cpus);
  explicit TargetBook(const Microarchitectures& cpus) : cpus_(&cpus) {}
  void add(Target target);  // replaces one of the same name
  // Throws Error(input) with the nearest known name; for a file that is wrong, its error.
  Target get(std::string_view name, const SourceLocation& where) const;
  const std::map<std::string, Error, std::less<>>& broken() const { return broken_; }  // by name

 private:
  const Microarchitectures* cpus_;
  std::vector<Target> named_;
  std::map<std::string, Error, std::less<>> broken_;
};

}  // namespace kiln
