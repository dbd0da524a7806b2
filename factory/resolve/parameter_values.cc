#include "factory/resolve/parameter_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "factory/base/text.h"
#include "factory/recipe/component_value.h"
#include "factory/recipe/parameters.h"
#include "factory/resolve/flags/gpu_flags.h"

namespace kiln {
namespace {

// What the lockfile says of the package archives; "" without one.
std::string pinned_archive(const Chosen& chosen, const std::string& architecture) {
  auto pin = chosen.version->pins.find(chosen.method->name);
  if (pin == chosen.version->pins.end()) return "";
  return value_or(pin->second.archives, architecture);
}

bool is_compiler(const Chosen& chosen) {
  return chosen.component->kind == Kind::toolchain && !chosen.version->fact("compiler").empty() &&
         !chosen.version->fact("compiler_version").empty();
}

// The compiler of the stage: one that the method itself asks for, else the one laid last.
const Chosen* compiler_of(const ScriptContext& script, const Target& target) {
  std::vector<Requirement> asked = requirements_of(*script.self, target);
  if (script.self->method->build)
    for (Requirement& one : build_requirements_of(*script.self, target)) asked.push_back(std::move(one));
  auto asked_for = [&](const Chosen& chosen) {
    auto names = [&](const Need* need) {
      return need->kind == Kind::toolchain && need->name == chosen.component->name;
    };
    return std::ranges::any_of(
        asked, [&](const Requirement& one) { return std::ranges::any_of(one.open.options, names); });
  };
  const Chosen* last = nullptr;
  for (const Chosen* chosen : script.laid) {
    if (!is_compiler(*chosen)) continue;
    if (asked_for(*chosen)) return chosen;
    last = chosen;
  }
  return last;
}

// All components of the kind, joined by blanks: their names or their versions.
std::string components_of_kind(Kind kind, bool versions, const Choice& image) {
  std::string words;
  for (const Chosen& chosen : image) {
    if (chosen.component->kind != kind) continue;
    if (!words.empty()) words += ' ';
    words += versions ? chosen.version->version.text() : chosen.component->name;
  }
  return words;
}

// What it takes for `compiler_of` to find a compiler in the stage.
CompilerVersion compiler_version_of(const Chosen& chosen) {
  return {chosen.version->fact("compiler"), chosen.version->fact("compiler_version")};
}

// For Fortran, where the compiler of the stage has none: the GCC that was laid last.
CompilerVersion gcc_of(const ScriptContext& script) {
  CompilerVersion found;
  for (const Chosen* chosen : script.laid)
    if (is_compiler(*chosen) && chosen->version->fact("compiler") == "gcc")
      found = compiler_version_of(*chosen);
  return found;
}

}  // namespace

std::map<std::string, std::string> ParameterValues::of(const ScriptContext& script) {
  std::map<std::string, std::string> values;
  std::optional<CompilerFlags> flags;  // found at the first variable that needs them
  for (const std::string& name : script.self->method->parameters) {
    if (is_given_to_every_script(name)) continue;
    if (!is_compiler_variable(name))
      values[name] = value_of(name, script);
    else if (script.flags != FlagPolicy::none)
      values[name] = flag_value(name, script, flags);
  }
  return values;
}

std::map<std::string, std::string> ParameterValues::of_test(const ScriptContext& script) {
  std::map<std::string, std::string> parameters = of(script);
  for (const std::string& name : parameters_of_tests()) parameters[name] = value_of(name, script);
  return parameters;
}

std::string ParameterValues::value_of(const std::string& name, const ScriptContext& script) {
  const Chosen& self = *script.self;
  if (name == "KILN_VERSION") return self.version->version.text();
  if (name == "KILN_METHOD") return self.method->name;
  if (name == "KILN_NAME") return self.component->name;
  if (name == "KILN_PREFIX") return "/opt/kiln/" + self.component->name;
  if (name == "KILN_SOURCE_URL") return self.version->source_url;
  if (name == "KILN_SOURCE_CHECKSUM") return self.version->source_checksum;
  if (name == "KILN_ARCHIVE") return pinned_archive(self, target_->platform_architecture(*cpus_));
  if (name == "KILN_CPU_TARGET") return target_->cpu;
  if (name == "KILN_CPU_FAMILY") return cpus_->family(target_->cpu);
  if (name == "KILN_GPU_TARGETS") return gpu_targets(*target_);
  if (name == "KILN_OPTIMISE" || name == "KILN_PROFILE") return optimise_value(name, script);
  if (is_gpu_variable(name)) return noted(gpu_flags(name, *target_), self);
  if (std::string wanted = fact_of_parameter(name); !wanted.empty()) return self.version->fact(wanted);
  if (auto kind = kind_of_parameter(name))
    return components_of_kind(*kind, name.ends_with("_VERSION"), *script.image);
  throw Error(ExitCode::input, self.method->where, fmt::format("unknown parameter '{}'", name),
              did_you_mean(name, known_parameters()));
}

std::string ParameterValues::optimise_value(const std::string& name, const ScriptContext& script) {
  const Optimise optimise = optimise_of(*script.self);
  if (script.flags != FlagPolicy::none)
    cell_optimise_used_ = cell_optimise_used_ || takes_cell_optimise(*script.self);
  if (name == "KILN_OPTIMISE") return optimise.text();
  return optimise.pgo.word.empty() || optimise.pgo.word == "off" ? "" : optimise.profile;
}

Optimise ParameterValues::optimise_of(const Chosen& chosen) const {
  Optimise optimise = chosen.method->optimise;
  if (takes_cell_optimise(chosen)) optimise = optimise.overridden_by(*cell_optimise_);
  if (optimise.profile.empty()) optimise.profile = "/opt/kiln/profile/" + chosen.component->name;
  return optimise;
}

bool ParameterValues::takes_cell_optimise(const Chosen& chosen) {
  return chosen.component->kind != Kind::toolchain && chosen.component->kind != Kind::base;
}

std::string ParameterValues::noted(FlagOrigin origin, const Chosen& reader) {
  origin.component = path_of(*reader.component);
  if (!contains(flags_, origin)) flags_.push_back(origin);
  return origin.value;
}

std::string ParameterValues::flag_value(const std::string& name, const ScriptContext& script,
                                        std::optional<CompilerFlags>& flags) {
  const Chosen& self = *script.self;
  const Chosen* compiler = compiler_of(script, *target_);
  if (compiler == nullptr) {
    if (script.flags == FlagPolicy::optional) return "";
    throw Error(ExitCode::input, self.method->where,
                fmt::format("{} (method {}) reads {}, but no compiler is in the stage where its script runs",
                            path_of(*self.component), self.method->name, name),
                "add a toolchain with the facts 'compiler' and 'compiler_version' to its needs, such as gcc");
  }
  if (!flags) flags = find_flags(script, *compiler);
  if (depends_on_optimise(name)) cell_optimise_used_ = cell_optimise_used_ || takes_cell_optimise(self);
  return noted(flags->of(name), self);
}

CompilerFlags ParameterValues::find_flags(const ScriptContext& script, const Chosen& compiler) const {
  const Chosen& self = *script.self;
  auto found =
      CompilerFlags::find({target_, cpus_, compiler_version_of(compiler), gcc_of(script), optimise_of(self)});
  if (auto* flags = std::get_if<CompilerFlags>(&found)) return *flags;
  const NoFlags& none = std::get<NoFlags>(found);
  if (none.cause == NoFlags::Cause::unknown_compiler)
    throw Error(ExitCode::input, compiler.version->where, none.reason,
                "the fact 'compiler' is archspec's name, such as gcc or clang");
  // What the cell asks for may be impossible; what the recipe says must not be.
  if (takes_cell_optimise(self) && !cell_optimise_->says_nothing())
    throw Unsolvable{fmt::format("{}: {}", self.component->name, none.reason)};
  throw Error(ExitCode::input, self.method->where, none.reason, "see \"optimise\" of this method");
}

ScriptValueBook::Reads ScriptValueBook::reads_of(const Method& method, FlagPolicy flags) {
  Reads reads;
  reads.target = flags == FlagPolicy::none;  // a test sees what the image is for
  for (const std::string& name : method.parameters) {
    const Parameter* parameter = find_parameter(name);
    if (parameter == nullptr) {
      reads.everything = true;
      continue;
    }
    switch (parameter->kind) {
      case ParameterKind::own:
      case ParameterKind::fact:
      case ParameterKind::build:
        break;
      case ParameterKind::others:
        reads.kinds.push_back(*kind_of_parameter(name));
        break;
      case ParameterKind::target:
      case ParameterKind::gpu_flags:
        reads.target = true;
        break;
      case ParameterKind::optimise:
        reads.optimise = true;
        break;
      case ParameterKind::cpu_flags:
      case ParameterKind::compiler_flags:
        if (flags != FlagPolicy::none) reads.target = reads.toolchains = reads.optimise = true;
        break;
      case ParameterKind::archive:
        reads.everything = true;
    }
  }
  return reads;
}

// Writes what the script's values depend on: two scripts that see the same have the same values.
void ScriptValueBook::see(const ScriptContext& script, const Target& target, const Optimise& cell_optimise) {
  const Chosen& self = *script.self;
  auto policy = static_cast<std::size_t>(script.flags);
  std::optional<Reads>& reads = reads_[self.method][policy];
  if (!reads) reads = reads_of(*self.method, script.flags);
  auto note = [&](const void* what) { seen_.push_back(reinterpret_cast<std::uintptr_t>(what)); };
  auto note_chosen = [&](const Chosen& chosen) {
    note(chosen.version);
    note(chosen.method);
  };
  seen_.assign({policy});
  note_chosen(self);
  note(reads->target || reads->everything ? &target : nullptr);
  note(reads->optimise || reads->everything ? &cell_optimise : nullptr);
  for (const Chosen& other : *script.image) {
    auto is_read = [&](Kind kind) { return kind == other.component->kind; };
    if (reads->everything || std::ranges::any_of(reads->kinds, is_read)) note_chosen(other);
  }
  note(nullptr);
  for (const Chosen* other : script.laid) {
    if (reads->everything || (reads->toolchains && other->component->kind == Kind::toolchain))
      note_chosen(*other);
  }
}

std::size_t ScriptValueBook::SeenHash::operator()(const Seen& seen) const {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;  // Fibonacci hashing: addresses differ in their middle bits
  for (std::uintptr_t one : seen) hash = (hash ^ one ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u;
  return hash ^ (hash >> 32);
}

const ScriptValues* ScriptValueBook::of(const ScriptContext& script, const Target& target,
                                        const Optimise& cell_optimise) {
  see(script, target, cell_optimise);
  auto found = values_.find(seen_);
  if (found != values_.end()) return &found->second;
  ParameterValues values(target, *cpus_, cell_optimise);
  ScriptValues made;
  made.parameters = PackedMap(script.flags == FlagPolicy::none ? values.of_test(script) : values.of(script));
  made.flags = values.flags();
  made.cell_optimise_used = values.cell_optimise_used();
  return &values_.emplace(seen_, std::move(made)).first->second;
}

}  // namespace kiln
