#include "image/build/test_place.h"

#include <fmt/format.h>

#include <array>
#include <csignal>

#include "registry/cpu_code.h"

namespace kiln {
namespace {

// As shells, GNU make, Python's subprocess and buildah say it of a program that they started.
constexpr std::array kWords = {"Illegal instruction", "illegal instruction", "SIGILL",
                               "illegal hardware instruction"};

}  // namespace

bool met_unknown_instruction(const CommandResult& result) {
  if (result.end == CommandEnd::signalled) return result.status == SIGILL;
  if (result.end != CommandEnd::exited || result.status == 0) return false;
  if (result.status == 128 + SIGILL) return true;
  for (const char* words : kWords)
    if (result.tail.find(words) != std::string::npos) return true;
  return false;
}

bool met_old_kernel(const CommandResult& result) {
  if (result.end == CommandEnd::exited && result.status == 0) return false;
  return result.tail.find("FATAL: kernel too old") != std::string::npos;  // glibc, csu/libc-start.c
}

std::string why_not_here(const CommandResult& result, const std::string& target, const TestPlace& place) {
  if (met_old_kernel(result))
    return fmt::format("the kernel of this machine ({}) is too old for the image's C library",
                       place.host.kernel);
  return met_unknown_instruction(result) ? lacking_here(target, place) : "";
}

std::string lacking_here(const std::string& target, const TestPlace& place) {
  const Microarchitecture* wanted = place.cpus.find(target);
  if (wanted == nullptr || place.cpus.find(place.host.cpu) == nullptr) return "";
  const HostCpu here(place.host, place.cpus);
  if (here.runs(*wanted)) return "";
  constexpr std::size_t kShown = 2;
  std::vector<std::string> missing = here.missing(*wanted);
  const std::size_t more = missing.size() > kShown + 1 ? missing.size() - kShown : 0;
  if (more > 0) missing.resize(kShown);
  std::string lacks =
      fmt::format("{}{}", fmt::join(missing, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
  return fmt::format("this machine ({}) {} {}", place.host.cpu,
                     missing.empty() ? "does not run code for" : "lacks " + lacks + " of", target);
}

}  // namespace kiln
