#include "registry/deploy/job_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"

namespace kiln {
namespace {

ChooserReply ask_for(const std::string& host, ChooserQuestion& asked, const AskIndex& ask) {
  asked.host = host;
  return ask(asked);
}

// For each kind that another image suits better than that of all.
void note_better(ImageChoice& choice, const std::vector<AlikeNodes>& kinds, ChooserQuestion& asked,
                 const AskIndex& ask) {
  for (const AlikeNodes& kind : kinds) {
    if (kind.constraint.empty() || kind.node.host_name().empty()) continue;
    const ChooserReply reply = ask_for(kind.node.host_name(), asked, ask);
    if (reply.error || reply.reference == choice.reply.reference) continue;
    choice.notes.push_back(
        fmt::format("on nodes of {} (architecture_constraint {}), {} is better than {}, which runs on all",
                    kind.node.host_name(), kind.constraint, reply.reference, choice.reply.reference));
  }
}

// Where no image runs on all nodes.
ImageChoice choose_kind(std::vector<AlikeNodes> kinds, const Partition& partition, ChooserQuestion& asked,
                        const AskIndex& ask, ChooserReply none) {
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const AlikeNodes& one, const AlikeNodes& other) { return one.nodes > other.nodes; });
  for (const AlikeNodes& kind : kinds) {
    if (kind.constraint.empty() || kind.node.host_name().empty()) continue;
    ImageChoice choice;
    choice.reply = ask_for(kind.node.host_name(), asked, ask);
    if (choice.reply.error) continue;
    choice.constraint = kind.constraint;
    choice.reasons.push_back(
        fmt::format("the constraint {}: no image runs on all nodes of {}, and {} runs on those of {}",
                    kind.constraint, partition.name, choice.reply.reference, kind.node.host_name()));
    return choice;
  }
  return {std::move(none), "", {}, {}};
}

bool has_same_accelerators(const std::vector<AlikeNodes>& kinds) {
  return std::all_of(kinds.begin(), kinds.end(), [&](const AlikeNodes& kind) {
    return kind.node.accelerators > 0 && kind.node.model == kinds.front().node.model;
  });
}

}  // namespace

std::string common_host(const std::vector<AlikeNodes>& kinds, const Microarchitectures& cpus) {
  if (kinds.empty()) return "";
  const Microarchitecture* first = cpus.find(kinds.front().node.microarchitecture);
  if (first == nullptr) return "";
  std::vector<std::string> candidates = {first->name};
  candidates.insert(candidates.end(), first->ancestors.begin(), first->ancestors.end());
  const auto common = std::find_if(candidates.begin(), candidates.end(), [&](const std::string& name) {
    return std::all_of(kinds.begin(), kinds.end(),
                       [&](const AlikeNodes& kind) { return cpus.runs(kind.node.microarchitecture, name); });
  });
  if (common == candidates.end()) return "";
  MachineKind node;
  node.microarchitecture = *common;
  if (has_same_accelerators(kinds)) {
    node.accelerators = 1;
    node.model = kinds.front().node.model;
  }
  const std::string host = node.host_name();
  return host.empty() ? *common : host;
}

ImageChoice choose_for_partition(ChooserQuestion asked, const Partition& partition, const JobRequest& job,
                                 const Microarchitectures& cpus, const AskIndex& ask) {
  const Partition part = part_for(partition, job);
  const std::vector<AlikeNodes>& kinds = part.kinds;
  ImageChoice choice;
  if (kinds.size() < 2) {
    choice.reply = ask_for(part.node ? part.node->host_name() : "", asked, ask);
    return choice;
  }
  const std::string all = common_host(kinds, cpus);
  choice.reply = ask_for(all, asked, ask);
  if (choice.reply.error && choice.reply.code != ExitCode::no_match) return choice;
  if (choice.reply.error) return choose_kind(kinds, partition, asked, ask, std::move(choice.reply));
  if (!all.empty())
    choice.reasons.push_back(fmt::format("the image runs on {}, which all {} of {} are", all,
                                         counted(kinds.size(), "kind") + " of nodes", partition.name));
  note_better(choice, kinds, asked, ask);
  return choice;
}

}  // namespace kiln
