#include "factory/run/suitable_cell.h"

#include <algorithm>
#include <map>
#include <set>

#include "factory/base/text.h"
#include "factory/package/package.h"
#include "factory/record/gpu_code.h"

namespace kiln {
namespace {

struct JudgedCells {
  std::vector<IndexEntry> entries;
  std::vector<PlanCell> cells;  // of the entries, one by one
};

// Selection takes a record without a manifest for a mapping, and those of cells have none yet.
Digest stand_in(const ResolvedImage& cell) { return Digest::of(cell.record_name()); }

// "sm_75", "sm_80" of "7.5 8.0".
void add_codes(std::string_view prefix, const std::string& capabilities, std::vector<std::string>& codes) {
  for (std::string_view capability : split(capabilities, ' ')) {
    std::string code(prefix);
    for (char c : capability)
      if (c != '.') code += c;
    if (code.size() > prefix.size()) codes.push_back(std::move(code));
  }
}

// NVIDIA's code in what others have built, as far as the recipe's facts go: it is declared, and has PTX only
// where a fact says so. What kiln builds has PTX (with_ptx).
std::vector<std::string> code_of_others(const ComponentUse& main, const ImageRecord& record,
                                        const CellQuestion& question) {
  std::vector<std::string> codes;
  if (main.method == "source") return codes;
  if (main.method == "pip" && question.fact) {
    add_codes("sm_", question.fact(main, "wheel_sm"), codes);
    add_codes("compute_", question.fact(main, "wheel_ptx"), codes);
  }
  const bool is_listed =
      std::ranges::any_of(codes, [](const std::string& code) { return code.starts_with("sm_"); });
  for (const std::string& accelerator : record.accelerators)
    if (auto [vendor, code] = split_accelerator(accelerator);
        !is_listed && vendor == "nvidia" && !code.empty())
      codes.push_back(std::move(code));
  return codes;
}

ImageRecord expected_record(const ResolvedImage& cell, const CellQuestion& question) {
  std::optional<ImageRecord> record;
  if (question.packaged) record = question.packaged(cell);
  if (!record) {
    record = declared_record(cell.spec(), cell.architecture());
    record->manifest = stand_in(cell);
    record->evidence.gpu = code_of_others(main_component(cell.components()), *record, question);
  }
  if (question.with_sif && record->attachment("sif") == nullptr)
    record->attachments.push_back({"sif", {}, {}});
  record->labels.clear();  // most of a record, and no clause reads them
  return std::move(*record);
}

// What the index says of bits holds for every name that they get.
class KnownBits {
 public:
  explicit KnownBits(const std::vector<IndexEntry>& published) {
    for (const IndexEntry& entry : published)
      if (!entry.image.external() && (entry.failing || !entry.retired.empty()))
        by_key_.emplace(entry.image.key, &entry);
  }
  IndexEntry entry(ImageRecord record) const {
    IndexEntry entry{std::move(record), false, {}};
    if (auto known = by_key_.find(entry.image.key); known != by_key_.end()) {
      entry.failing = known->second->failing;
      entry.retired = known->second->retired;
    }
    return entry;
  }

 private:
  std::map<std::string, const IndexEntry*> by_key_;
};

JudgedCells cells_of_application(const std::vector<const BuildPlan*>& plans, const CellQuestion& question) {
  const std::string application = lower_case(question.query.application);
  const KnownBits known(question.published);
  JudgedCells judged;
  std::set<std::string> seen;
  for (std::size_t plan = 0; plan < plans.size(); ++plan) {
    for (std::uint32_t number : all_images(*plans[plan])) {
      const ResolvedImage cell = plans[plan]->image(number);
      if (lower_case(naming_component(cell.components()).name) != application) continue;
      if (!seen.insert(cell.record_name()).second) continue;
      judged.entries.push_back(known.entry(expected_record(cell, question)));
      judged.cells.push_back({plan, number});
    }
  }
  return judged;
}

}  // namespace

std::string fact_of(const ComponentUse& component, const std::string& fact, const RecipeBook& recipes) {
  const Recipe* recipe = recipes.find(component.kind, component.name);
  const ComponentVersion* version = recipe == nullptr ? nullptr : recipe->find_version(component.version);
  return version == nullptr ? "" : version->fact(fact);
}

CellAnswer suitable_cell(const std::vector<const BuildPlan*>& plans, const CellQuestion& question) {
  const JudgedCells judged = cells_of_application(plans, question);
  auto cell_of = [&](const Candidate& candidate) {
    return judged.cells[static_cast<std::size_t>(candidate.entry - judged.entries.data())];
  };
  const Selection selection = select_image(question.query, judged.entries, question.host, question.cpus);
  CellAnswer answer;
  if (selection.winner) {
    answer.cell = cell_of(*selection.winner);
    answer.reasons = selection.reasons;
  } else if (!selection.others.empty()) {
    answer.nearest = cell_of(selection.others.front());
    answer.failed = selection.others.front().failed;
  }
  return answer;
}

std::string unfit(const ImageRecord& packaged, const CellQuestion& question) {
  const std::vector<IndexEntry> entries = {KnownBits(question.published).entry(packaged)};
  const Selection selection = select_image(question.query, entries, question.host, question.cpus);
  return selection.winner ? "" : selection.others.front().failed;
}

}  // namespace kiln
