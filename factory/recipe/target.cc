#include "factory/recipe/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/reading.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

bool all_of_set(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// `nvidia:sm_<capability>[a|f]` or `amd:gfx<hex digits>`.
bool is_accelerator(std::string_view text) {
  constexpr std::string_view kNvidia = "nvidia:sm_";
  constexpr std::string_view kAmd = "amd:gfx";
  if (text.starts_with(kNvidia)) {
    std::string_view capability = text.substr(kNvidia.size());
    if (capability.ends_with('a') || capability.ends_with('f')) capability.remove_suffix(1);
    return capability.size() >= 2 && capability.size() <= 3 && all_of_set(capability, "0123456789");
  }
  if (!text.starts_with(kAmd)) return false;
  const std::string_view chip = text.substr(kAmd.size());
  return chip.size() >= 3 && chip.size() <= 4 && all_of_set(chip, "0123456789abcdef");
}

[[noreturn]] void fail_accelerator(const SourceLocation& where, std::string_view text) {
  throw Error(ExitCode::input, where, fmt::format("expected an accelerator, found '{}'", text),
              "for example nvidia:sm_80 or amd:gfx90a");
}

void check_cpu(const Microarchitectures& cpus, const std::string& cpu, const SourceLocation& where) {
  if (cpus.find(cpu) == nullptr)
    throw Error(ExitCode::input, where, fmt::format("archspec knows no microarchitecture '{}'", cpu),
                hint_for_unknown_cpu(cpu, cpus));
}

Target read_target(const FileSystem& files, const fs::path& file, const Microarchitectures& cpus) {
  const JsonDocument document = read_document(files, file);
  const JsonNode root = document.root();
  root.allow_only(keys_of("target"));
  Target target;
  target.name = file.stem().string();
  target.cpu = root.at("cpu").name();
  check_cpu(cpus, target.cpu, root.at("cpu").where());
  if (auto description = root.find("description")) target.description = read_text(*description);
  if (auto list = root.find("accelerators")) {
    for (const JsonNode& item : read_distinct(*list, "accelerator")) {
      target.accelerators.push_back(item.string());
      if (!is_accelerator(target.accelerators.back()))
        fail_accelerator(item.where(), target.accelerators.back());
    }
  }
  const SourceLocation whole{file.string(), 0, 0, ""};
  if (!is_name(target.name))
    throw Error(ExitCode::input, whole, fmt::format("'{}' is not a target's name", target.name),
                "letters, digits and _ . + - only, and a letter or digit first");
  if (cpus.find(target.name) != nullptr && target.name != target.cpu)
    throw Error(
        ExitCode::input, whole,
        fmt::format("'{}' is a microarchitecture, and this target is for '{}'", target.name, target.cpu),
        "give the file another name");
  return target;
}

// `cpu,accelerator…` as written in a matrix.
Target parse_target(std::string_view text, const SourceLocation& where) {
  Target target;
  target.name = std::string(text);
  std::size_t comma = std::min(text.find(','), text.size());
  target.cpu = std::string(text.substr(0, comma));
  while (comma < text.size()) {
    const std::size_t start = comma + 1;
    comma = std::min(text.find(',', start), text.size());
    std::string accelerator(text.substr(start, comma - start));
    if (!is_accelerator(accelerator)) fail_accelerator(where, accelerator);
    if (contains(target.accelerators, accelerator))
      throw Error(ExitCode::input, where,
                  fmt::format("accelerator '{}' is there twice in '{}'", accelerator, text));
    target.accelerators.push_back(std::move(accelerator));
  }
  return target;
}

}  // namespace

std::string Target::platform_architecture(const Microarchitectures& cpus) const {
  std::string family = cpus.family(cpu);
  if (family == "x86_64") return "amd64";
  if (family == "x86") return "386";
  if (family == "aarch64") return "arm64";
  return family;  // ppc64le, riscv64, …: Go and archspec agree
}

std::string Target::composition() const {
  return accelerators.empty() ? cpu : fmt::format("{},{}", cpu, fmt::join(accelerators, ","));
}

bool Target::matches(std::string_view glob) const {
  return glob_matches(glob, name) || glob_matches(glob, composition());
}

TargetBook TargetBook::read(const FileSystem& files, const fs::path& folder, const Microarchitectures& cpus) {
  TargetBook book(cpus);
  for (const std::string& name : files.list(folder)) {
    const fs::path file = folder / name;
    if (!name.ends_with(".json") || files.is_directory(file)) continue;
    try {
      book.add(read_target(files, file, cpus));
    } catch (const Error& error) {
      book.broken_.emplace(file.stem().string(), error);
    }
  }
  return book;
}

void TargetBook::add(Target target) {
  std::erase_if(named_, [&](const Target& other) { return other.name == target.name; });
  named_.push_back(std::move(target));
}

Target TargetBook::get(std::string_view name, const SourceLocation& where) const {
  for (const Target& target : named_)
    if (target.name == name) return target;
  if (auto found = broken_.find(name); found != broken_.end()) throw found->second;
  Target target = parse_target(name, where);
  if (cpus_->find(target.cpu) != nullptr) return target;
  std::vector<std::string> known;
  for (const Target& named : named_) known.push_back(named.name);
  for (const auto& [broken, why] : broken_) known.push_back(broken);
  throw Error(ExitCode::input, where, fmt::format("there is no target '{}'", target.cpu),
              hint_for_unknown_cpu(target.cpu, *cpus_, known));
}

}  // namespace kiln
