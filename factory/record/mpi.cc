#include "factory/record/mpi.h"

#include <algorithm>

namespace kiln {
namespace {

struct Member {
  std::string_view name;
  std::string_view family;
};

// HPC-X is left out: its version is not that of the Open MPI in it.
constexpr Member kMembers[] = {{"mpich", "mpich"},    {"intel-mpi", "mpich"},       {"cray-mpich", "mpich"},
                               {"mvapich2", "mpich"}, {"parastation-mpi", "mpich"}, {"openmpi", "openmpi"}};

}  // namespace

MpiLibrary mpi_library(std::string_view text) {
  const std::size_t at = text.find('@');
  MpiLibrary library{std::string(text.substr(0, at)), {}};
  if (at != std::string_view::npos) library.version = Version(std::string(text.substr(at + 1)));
  return library;
}

std::string_view mpi_family(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMembers), std::end(kMembers),
                                   [&](const Member& member) { return member.name == name; });
  return found == std::end(kMembers) ? "" : found->family;
}

const std::vector<std::string>& mpi_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Member& member : kMembers) all.emplace_back(member.name);
    return all;
  }();
  return names;
}

}  // namespace kiln
