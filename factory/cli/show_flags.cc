#include "factory/cli/show_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/glob.h"
#include "factory/cli/print.h"
#include "factory/cli/table.h"
#include "factory/cpu/unknown_cpu.h"
#include "factory/report/image_flags.h"

namespace kiln {
namespace {

std::string archspec_of(const Invocation& invocation) {
  auto named = invocation.environment.find("KILN_ARCHSPEC");
  return named == invocation.environment.end() ? KILN_ARCHSPEC_VERSION : named->second;
}

// A remark on some of the variables; they are named where they are few.
struct Remark {
  std::string text;
  std::vector<std::string> variables;
};

void remark(std::vector<Remark>& remarks, const std::string& text, const std::string& variable) {
  auto same = [&](const Remark& other) { return other.text == text; };
  auto found = std::find_if(remarks.begin(), remarks.end(), same);
  if (found == remarks.end()) found = remarks.insert(found, {text, {}});
  if (std::find(found->variables.begin(), found->variables.end(), variable) == found->variables.end())
    found->variables.push_back(variable);
}

// Values stand last: they are long. What is empty is told below the table, and so are notes.
void print(const std::vector<FlagOrigin>& flags) {
  Table table({"VARIABLE", "COMPILER", "TARGET", "READ BY", "FROM", "VALUE"});
  std::vector<Remark> empty;
  std::vector<Remark> notes;
  for (const FlagOrigin& flag : flags) {
    if (!flag.note.empty()) remark(notes, flag.note, flag.variable);
    if (flag.value.empty())
      remark(empty, flag.from, flag.variable);
    else
      table.add({flag.variable, flag.compiler, flag.target, flag.component, flag.from, flag.value});
  }
  if (!table.empty()) print_text(table.text());
  constexpr std::size_t kFew = 2;
  for (const Remark& note : notes)
    say("note{}: {}\n",
        note.variables.size() > kFew ? "" : fmt::format(" on {}", fmt::join(note.variables, ", ")),
        note.text);
  for (const Remark& one : empty) say("empty, because {}: {}\n", one.text, fmt::join(one.variables, ", "));
}

Json json_of(const std::vector<FlagOrigin>& flags) {
  Json array = Json::array();
  for (const FlagOrigin& flag : flags)
    array.push_back({{"variable", flag.variable},
                     {"value", flag.value},
                     {"compiler", flag.compiler},
                     {"target", flag.target},
                     {"from", flag.from},
                     {"note", flag.note},
                     {"component", flag.component}});
  return array;
}

CompilerVersion compiler_from(const std::string& text) {
  std::size_t at = text.find('@');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw Error(ExitCode::usage, fmt::format("expected a compiler and its version, found '{}'", text),
                "such as gcc@12.2.0");
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<std::string> matching(const std::string& glob, const Microarchitectures& cpus) {
  std::vector<std::string> found;
  for (const std::string& name : cpus.names())
    if (glob_matches(glob, name)) found.push_back(name);
  if (found.empty())
    throw Error(ExitCode::no_match, fmt::format("archspec knows no microarchitecture '{}'", glob),
                hint_for_unknown_cpu(glob, cpus));
  return found;
}

// One processor and one compiler.
struct FlagAnswer {
  Target target;
  CompilerVersion compiler;
  std::variant<std::vector<FlagOrigin>, NoFlags> flags;
};

Json json_of(const FlagAnswer& answer, const FlagQuery& query, Invocation& invocation) {
  Json json = {{"archspec", archspec_of(invocation)},
               {"cpu", answer.target.cpu},
               {"family", invocation.cpus().family(answer.target.cpu)},
               {"accelerators", answer.target.accelerators},
               {"compiler", answer.compiler.name},
               {"version", answer.compiler.version},
               {"optimise", query.optimise}};
  if (auto* none = std::get_if<NoFlags>(&answer.flags)) {
    json["answered"] = nullptr;
    json["note"] = none->reason;
    json["flags"] = Json::array();
    return json;
  }
  const auto& flags = std::get<std::vector<FlagOrigin>>(answer.flags);
  json["answered"] = flags.front().target;
  json["note"] = flags.front().note;
  json["flags"] = json_of(flags);
  return json;
}

void print(const std::vector<FlagAnswer>& answers, const std::string& archspec) {
  if (answers.size() == 1 && std::holds_alternative<std::vector<FlagOrigin>>(answers.front().flags)) {
    say("{} with {} (archspec {})\n", answers.front().target.composition(), answers.front().compiler.text(),
        archspec);
    return print(std::get<std::vector<FlagOrigin>>(answers.front().flags));
  }
  Table table({"CPU", "COMPILER", "TARGET", "KILN_CPU_FLAGS", "NOTE"});
  for (const FlagAnswer& one : answers) {
    if (auto* none = std::get_if<NoFlags>(&one.flags)) {
      table.add({one.target.cpu, one.compiler.text(), "", "", none->reason});
      continue;
    }
    const FlagOrigin& cpu = std::get<std::vector<FlagOrigin>>(one.flags).front();
    table.add({one.target.cpu, one.compiler.text(), cpu.target, cpu.value, cpu.note});
  }
  print_text(table.text());
}

}  // namespace

void show_flags(const FlagQuery& query, bool json, Invocation& invocation) {
  const Microarchitectures& cpus = invocation.cpus();
  const Optimise optimise = parse_optimise(query.optimise, {}, "--optimise");
  TargetBook targets(cpus);
  std::vector<FlagAnswer> answers;
  for (const std::string& compiler : query.compilers) {
    for (const std::string& glob : query.cpus) {
      for (const std::string& cpu : matching(glob, cpus)) {
        std::string name = cpu;
        for (const std::string& accelerator : query.accelerators) name += "," + accelerator;
        FlagAnswer answer{targets.get(name, {}), compiler_from(compiler), {}};
        FlagQuestion question{&answer.target, &cpus, answer.compiler, {}, optimise};
        question.optimise.profile = "/opt/kiln/profile/name";
        answer.flags = all_flags(question);
        answers.push_back(std::move(answer));
      }
    }
  }
  if (!json) return print(answers, archspec_of(invocation));
  Json array = Json::array();
  for (const FlagAnswer& answer : answers) array.push_back(json_of(answer, query, invocation));
  print_json(array);
}

void show_flags(const Catalogue& catalogue, const ImageNumbers& cells, bool json, Invocation& invocation) {
  Json array = Json::array();
  for (std::uint32_t number : cells) {
    const ImageSpec spec = catalogue.plan.image(number).spec();
    ImageFlags found = flags_of_image(spec, catalogue.recipes, invocation.cpus());
    const std::string name = spec.repository + ":" + spec.tag;
    if (json) {
      array.push_back({{"archspec", archspec_of(invocation)},
                       {"id", spec.request.id},
                       {"image", name},
                       {"target", spec.target.composition()},
                       {"note", found.note},
                       {"flags", json_of(found.flags)}});
      continue;
    }
    say("{} for {} (archspec {})\n", name, spec.target.composition(), archspec_of(invocation));
    if (!found.note.empty()) say("{}\n", found.note);
    print(found.flags);
  }
  if (json) print_json(array);
}

}  // namespace kiln
