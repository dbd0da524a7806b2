// The evidence as JSON (docs/images.md) and as a table for people.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/base/json_put.h"
#include "factory/base/text.h"
#include "factory/evidence/evidence.h"

namespace kiln::evidence {
namespace {

std::string printable(const std::string& text) {
  std::string plain = text;
  for (char& c : plain)
    if (is_control(c)) c = '?';
  return plain;
}

Json excess_json(const Excess& excess) {
  Json json{{"file", "/" + excess.file},
            {"feature", excess.feature},
            {"functions", excess.functions},
            {"address", fmt::format("{:#x}", excess.witness.address)},
            {"instruction", excess.witness.instruction}};
  put(json, "symbol", excess.witness.symbol);
  put(json, "accepted", excess.accepted);
  put(json, "accepted_by", excess.accepted_by);
  return json;
}

Json files_json(const Evidence& evidence) {
  Json files = Json::array();
  for (const ElfEntry& entry : evidence.files) {
    Json file = to_json(*entry.facts);
    file["path"] = "/" + entry.path;
    file["layer"] = entry.layer;
    files.push_back(std::move(file));
  }
  return files;
}

void add_line(std::string& text, const char* name, const std::string& value) {
  if (!value.empty()) text += fmt::format("{:<10} {}\n", name, on_one_line(value));
}

std::string files_text(std::uint64_t count) {
  return count == 0 ? "-" : fmt::format("{} file{}", count, count == 1 ? "" : "s");
}

std::string feature_rows(const Evidence& evidence) {
  std::string text =
      fmt::format("\n{:<20} {:<15} {:<15} {}\n", "EXTENSION", "UNCONDITIONAL", "AT RUN TIME", "FOR EXAMPLE");
  for (const Feature& feature : feature_table()) {
    auto found = evidence.features.find(std::string(feature.name));
    if (found == evidence.features.end() || contains(text, fmt::format("\n{:<20} ", feature.name))) continue;
    const FeatureTotal& total = found->second;
    text += fmt::format("{:<20} {:<15} {:<15} /{}\n", feature.name, files_text(total.files_unconditional),
                        files_text(total.files_dispatched), on_one_line(total.example));
  }
  return text;
}

// Of each file the first few; a wholesale mistake has thousands.
std::string excess_rows(const Evidence& evidence) {
  std::string text;
  for (bool accepted : {false, true}) {
    bool any = false;
    for (const Excess& excess : evidence.excesses) {
      if (excess.accepted.empty() == accepted) continue;
      if (!any) text += accepted ? "\nbeyond the target, accepted:\n" : "\nbeyond the target:\n";
      any = true;
      text +=
          "  " + on_one_line(describe(excess)) +
          (accepted ? fmt::format("\n    {}: {}", excess.accepted_by, on_one_line(excess.accepted)) : "") +
          "\n";
    }
  }
  return text;
}

std::string holder_text(const Evidence& evidence) {
  return evidence.lowest_target.empty() ? "no target of archspec's"
                                        : evidence.lowest_target + ", the lowest target that does";
}

std::string gpu_text(const GpuCode& gpu) {
  std::vector<std::string> all = gpu.sm;
  all.insert(all.end(), gpu.compute.begin(), gpu.compute.end());
  all.insert(all.end(), gpu.gfx.begin(), gpu.gfx.end());
  return joined(all, " ");
}

std::string glibc_text(const GlibcNeed& glibc) {
  if (glibc.needed.empty()) return "";
  return fmt::format("{} needed (by /{}), {} in the image", glibc.needed, glibc.file,
                     glibc.provided.empty() ? "none" : glibc.provided);
}

// One line a library: a framework's modules all miss the same ones.
std::string missing_rows(const Evidence& evidence) {
  std::map<std::string, std::vector<const MissingLibrary*>> by_library;
  for (const MissingLibrary& missing : evidence.missing) by_library[missing.library].push_back(&missing);
  std::string text = by_library.empty() ? "" : "\nlibraries that the loader does not find:\n";
  for (const auto& [library, all] : by_library) {
    text += fmt::format("  {}: needed by /{}", printable(library), on_one_line(all.front()->file));
    if (all.size() > 1) text += fmt::format(" and {} more", all.size() - 1);
    if (!all.front()->elsewhere.empty()) text += "; the image has /" + on_one_line(all.front()->elsewhere);
    text += "\n";
  }
  return text;
}

std::string file_rows(const Evidence& evidence) {
  std::string text = "\n";
  for (const ElfEntry& entry : evidence.files) {
    const FileFacts& facts = *entry.facts;
    text += fmt::format("/{}  {}, {} bytes of code\n", on_one_line(entry.path), name_of(facts.machine),
                        facts.code_bytes);
    for (const auto& [name, feature] : facts.features) {
      std::string how;
      for (const auto& [choice, count] : feature.functions) how += fmt::format(" {} {}", choice, count);
      text += fmt::format("  {:<20} {:>9} instructions; functions:{}\n", name, feature.instructions, how);
    }
    if (!facts.queries.empty()) text += "  asks by " + joined(facts.queries, " ") + "\n";
    if (!facts.gpu.empty()) text += "  " + gpu_text(facts.gpu) + "\n";
  }
  return text;
}

}  // namespace

Json to_json(const Evidence& evidence, bool with_files) {
  Json json{{"version", 1},
            {"verdict", name_of(evidence.verdict)},
            {"elf_files", evidence.elf_files},
            {"code_bytes", evidence.code_bytes}};
  put(json, "target", evidence.declared.target);
  put(json, "lowest_target", evidence.lowest_target);
  put(json, "flags", evidence.declared.flags);
  json["declared_optimised"] = evidence.declared.optimised;
  json["unconditional"] = evidence.unconditional();
  json["dispatched"] = evidence.dispatched();
  json["optimised_features"] = evidence.optimised_features;
  json["extensions"] = Json::object();
  for (const auto& [name, total] : evidence.features)
    json["extensions"][name] = {{"files_unconditional", total.files_unconditional},
                                {"files_dispatched", total.files_dispatched},
                                {"example", "/" + total.example}};
  json["beyond_target"] = Json::array();
  for (const Excess& excess : evidence.excesses) json["beyond_target"].push_back(excess_json(excess));
  put(json, "cuda_machine_code", evidence.gpu.sm);
  put(json, "cuda_ptx", evidence.gpu.compute);
  put(json, "hip", evidence.gpu.gfx);
  json["glibc"] = {{"needed", evidence.glibc.needed},
                   {"by", evidence.glibc.file.empty() ? "" : "/" + evidence.glibc.file},
                   {"provided", evidence.glibc.provided}};
  json["missing_libraries"] = Json::array();
  for (const MissingLibrary& missing : evidence.missing) {
    Json entry{{"file", "/" + missing.file}, {"library", printable(missing.library)}};
    if (!missing.elsewhere.empty()) entry["elsewhere"] = "/" + missing.elsewhere;
    json["missing_libraries"].push_back(entry);
  }
  json["problems"] = Json::array();
  for (const auto& [file, what] : evidence.problems)
    json["problems"].push_back({{"file", "/" + file}, {"problem", what}});
  if (with_files) json["files"] = files_json(evidence);
  return json;
}

std::string to_table(const Evidence& evidence, bool with_files) {
  std::string text;
  std::string flags = joined(evidence.declared.flags, " ");
  add_line(text, "target", evidence.declared.target + (flags.empty() ? "" : "  (" + flags + ")"));
  add_line(text, "verdict", std::string(name_of(evidence.verdict)));
  if (evidence.verdict == Verdict::exceeds) add_line(text, "holds it", holder_text(evidence));
  add_line(text, "contents",
           fmt::format("{} ELF files, {:.1f} MB of code", evidence.elf_files,
                       static_cast<double>(evidence.code_bytes) / 1e6));
  add_line(text, "gpu", gpu_text(evidence.gpu));
  add_line(text, "glibc", glibc_text(evidence.glibc));
  text += feature_rows(evidence) + excess_rows(evidence);
  if (evidence.verdict == Verdict::not_optimised)
    text += "\nNothing beyond the baseline where the image is declared to be optimised.\n";
  text += missing_rows(evidence);
  if (!evidence.problems.empty()) text += "\ndamaged:\n";
  for (const auto& [file, what] : evidence.problems)
    text += fmt::format("  /{}: {}\n", on_one_line(file), on_one_line(what));
  if (with_files) text += file_rows(evidence);
  return text;
}

}  // namespace kiln::evidence
