// Counts the questions to the index and how well it could answer, without data about users. The file of lines
// is next to the index (docs/formats/files.md, "Demand"). A caller that cannot write there still gets
// answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/cpu/microarchitecture.h"
#include "registry/select/dsl.h"
#include "registry/select/select.h"

namespace kiln {

struct Demand {
  enum class Outcome { answered, second_best, missed };
  std::string question;  // "tensorflow 2.1, optimised, xla, nvidia": application, version and choices
  std::string host;      // "zen4,nvidia:sm_90"; "" = none was known
  Outcome outcome = Outcome::answered;
  std::string why;  // the obstacle to a better answer; "" without one
  std::uint64_t count = 1;
  std::string last;  // day, "2026-11-23"
};

std::string_view name_of(Demand::Outcome outcome);
// As programs read it: `kiln index demand --format json` has a list of these.
Json to_json(const Demand& demand);

// One question and its answer. Second best: the winner runs, but was built for another processor or GPU than
// the host's, or is stale.
Demand demand_of(const ImageQuery& query, const Host& host, const Selection& selection,
                 const Microarchitectures& cpus, std::string day);

// One line of the file, with its newline; "" for a question that is too long to be kept.
std::string demand_line(const Demand& demand);
// Equal ones counted together: missed first, then by count, then by name. A line that cannot be read (cut by
// a full disk) is left out.
std::vector<Demand> sum_of_demand(std::string_view lines);

// Adds a line to `<state>/demand.jsonl`, and sums the file up when it has grown. False when that cannot be
// done: no right to write, a full disk.
bool record_demand(const std::filesystem::path& state, const Demand& demand);
// Of the file; empty when there is none. Throws Error(store) when it cannot be read.
std::vector<Demand> read_demand(const std::filesystem::path& state);

// A counted question as a question again: what a night builds for. Pure.

// The question that demand_of() has counted under this text, as far as the text says it: a word that may be
// two things is left out. `compilers`: the names of graph compilers; any other word that is not of the DSL is
// a microarchitecture. nullopt for a text that no question has.
std::optional<ImageQuery> query_of(const Demand& demand, const std::set<std::string>& compilers);

// The counted host of the question: processor and accelerators.
Host host_of(const Demand& demand);

}  // namespace kiln
