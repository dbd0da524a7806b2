#include "registry/select/snapshot_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <tuple>

#include "factory/base/text.h"

namespace kiln {
namespace {

std::uint32_t part_number(std::map<std::string, std::uint32_t>& numbers, std::vector<ImageRecord>& parts,
                          const std::string& text, ImageRecord part) {
  auto [at, is_new] = numbers.try_emplace(text, static_cast<std::uint32_t>(parts.size()));
  if (is_new) parts.push_back(std::move(part));
  return at->second;
}

// Gives each the number of those that are better.
template <typename Value, typename Item, typename Order>
void rank_by(std::vector<std::pair<Value, Item*>>& all, const Order& order, std::uint32_t Item::*rank) {
  std::ranges::stable_sort(all,
                           [&](const auto& a, const auto& b) { return std::is_lt(order(a.first, b.first)); });
  for (std::size_t i = 1; i < all.size(); ++i) {
    const bool is_equal = std::is_eq(order(all[i - 1].first, all[i].first));
    all[i].second->*rank = all[i - 1].second->*rank + (is_equal ? 0 : 1);
  }
}

// With its length, so that no text of a document reads as two words.
void add_word(std::string& words, std::string_view word) {
  words += fmt::format_int(word.size()).c_str();
  words += ':';
  words += word;
}

// All that choices are judged and counted by. The function names every member of a query, so that it does not
// compile with a new one until its author decides whether it belongs here.
std::string choice_words(const ImageQuery& query) {
  const auto& [app_type, application, opt_build, version, cpu_type, acc_type, cpu, gpu, method, format,
               workload, autotuning, compilers, stock_compilers, selectors, host, target, mpi_ranks,
               strict_gains, allow_failing] = query;
  std::string words;
  auto add = [&words](std::string_view word) { add_word(words, word); };
  for (const std::string_view word :
       std::initializer_list<std::string_view>{app_type, application, version.text(), method})
    add(word);
  add(opt_build ? *opt_build ? "optimised" : "stock" : "");
  add(mpi_ranks ? "mpi" : "");
  for (const auto& [name, wanted] : compilers) add((wanted ? "+" : "-") + name);
  for (const std::string& name : stock_compilers) add("=" + name);
  for (const auto& [choice, value] : selectors) {
    add(":" + choice);
    add(value);
  }
  return words;
}

}  // namespace

SnapshotTable::SnapshotTable(TableImages of) : hosts_(std::move(of.hosts)) {
  struct Placed {
    std::string application;
    std::uint32_t choice;
    Row row;
  };
  std::ranges::sort(of.images, {}, [](const TableImages::Image& image) {
    return std::tie(image.name, image.code, image.manifest);
  });
  std::vector<std::string> applications;
  for (const ImageRecord& choice : of.choices) applications.push_back(lower_case(choice.application));
  std::vector<Placed> placed;
  placed.reserve(of.images.size());
  for (TableImages::Image& image : of.images) {
    const auto number = static_cast<std::uint32_t>(images_.size());
    images_.push_back({std::move(image.tag), image.manifest});
    Row row{image.host, number, kNone, image.stale, image.failing, image.retired};
    if (image.measured) {
      row.measured = static_cast<std::uint32_t>(measured_.size());
      measured_.push_back(std::move(image.measured));
    }
    placed.push_back({applications[image.choice], image.choice, row});
  }
  std::ranges::stable_sort(placed, {},
                           [](const Placed& one) { return std::tie(one.application, one.choice); });
  rows_.reserve(placed.size());
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const Placed& one = placed[i];
    if (i == 0 || one.application != placed[i - 1].application)
      applications_[one.application] = {static_cast<std::uint32_t>(choices_.size()), 0};
    if (i == 0 || one.application != placed[i - 1].application || one.choice != placed[i - 1].choice)
      add_choice(of.choices[one.choice]);
    rows_.push_back(one.row);
    choices_.back().end = static_cast<std::uint32_t>(rows_.size());
    applications_[one.application].end = static_cast<std::uint32_t>(choices_.size());
  }
  rank_versions();
  number_shapes();
}

void SnapshotTable::number_shapes() {
  std::map<Shape, std::uint32_t> numbers;
  for (Choice& choice : choices_) {
    Shape shape;
    for (std::uint32_t i = choice.first; i < choice.end; ++i)
      shape.push_back({rows_[i].host, rows_[i].stale, rows_[i].failing, rows_[i].retired});
    auto [at, is_new] = numbers.try_emplace(std::move(shape), static_cast<std::uint32_t>(shapes_.size()));
    if (is_new) shapes_.push_back(at->first);
    choice.shape = at->second;
  }
}

void SnapshotTable::add_choice(const ImageRecord& part) {
  ImageRecord version, compilers;
  version.version = part.version;
  std::set<std::string> names;
  for (const std::string& name : graph_compilers_of(part))
    if (names.insert(name).second) compilers.components.push_back({"compiler", name, {}, "", false});
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  const auto first = static_cast<std::uint32_t>(rows_.size());
  choices_.push_back({part, part_number(version_numbers_, versions_, part.version.text(), version),
                      part_number(compiler_numbers_, compilers_, text, compilers), 0,
                      part.version.is_pre_release(), first, first});
}

// Equal versions may be written in several ways: 2.1 and 2.1.0.
void SnapshotTable::rank_versions() {
  std::vector<std::uint32_t> order(versions_.size()), ranks(versions_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(
      order, std::greater(), [&](std::uint32_t at) -> const auto& { return versions_[at].version; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const bool is_equal = std::is_eq(versions_[order[i]].version <=> versions_[order[i - 1]].version);
    ranks[order[i]] = ranks[order[i - 1]] + (is_equal ? 0 : 1);
  }
  for (Choice& choice : choices_) choice.version_rank = ranks[choice.version];
}

TableSelector::TableSelector(const SnapshotTable& table, Host host, const Microarchitectures& cpus)
    : table_(&table),
      host_(std::move(host)),
      cpus_(&cpus),
      known_(known_host(host_.description, host_.known, cpus)) {
  for (const auto& entry : table.measured_)
    near_.push_back(host_.known && is_comparable(*entry, host_.description));
  const ImageQuery any;
  const Ranker ranker(any, known_, cpus);
  doubts_.reserve(table.choices_.size());
  for (const SnapshotTable::Choice& choice : table.choices_) {
    doubts_.push_back(ranker.doubt(choice.part, choice.part.tests));
    bool has_near = false;
    for (std::uint32_t i = choice.first; i < choice.end; ++i) has_near = has_near || is_near(table.rows_[i]);
    has_near_.push_back(has_near);
  }
}

bool TableSelector::is_near(const SnapshotTable::Row& row) const {
  return row.measured != SnapshotTable::kNone && near_[row.measured];
}

TableSelector::Fits& TableSelector::fits_for(const ImageQuery& query, const QueryClauses& judge) {
  constexpr std::size_t kMost = 256;  // questions that ask something else of the place
  std::string words = query.opt_build.value_or(false) ? "1" : "0";
  for (const std::string* word : {&query.cpu_type, &query.acc_type, &query.cpu, &query.gpu, &query.format})
    add_word(words, *word);
  if (auto known = fits_.find(words); known != fits_.end()) return known->second;
  if (fits_.size() >= kMost) fits_.clear();
  const Ranker ranker(query, known_, *cpus_);
  std::vector<HostFit> fits(table_->hosts_.size());
  std::vector<std::pair<ImageStanding, HostFit*>> order;
  std::vector<std::pair<CudaFit, HostFit*>> cudas;
  const Version none;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    fits[i].runs = judge.runs(table_->hosts_[i]);
    if (!fits[i].runs) continue;
    ImageStanding standing;
    const CodeFit code = ranker.code(table_->hosts_[i]);
    fits[i].by_ptx = ranker.by_ptx(code);
    standing.code = code;
    standing.code.cuda = {};
    standing.version = &none;
    order.emplace_back(standing, &fits[i]);
    cudas.emplace_back(code.cuda, &fits[i]);
  }
  rank_by(
      order, [](const ImageStanding& a, const ImageStanding& b) { return difference(a, b).order; },
      &HostFit::rank);
  rank_by(
      cudas, [](const CudaFit& a, const CudaFit& b) { return a <=> b; }, &HostFit::cuda_rank);
  return fits_.emplace(std::move(words), Fits{std::move(fits), {}}).first->second;
}

TableSelector::ChosenChoices TableSelector::choose(const ImageQuery& query, const QueryClauses& judge) const {
  ChosenChoices chosen;
  auto application = table_->applications_.find(lower_case(query.application));
  if (application == table_->applications_.end()) return chosen;
  const bool by_version = asks_version_of_application(query);
  const Ranker ranker(query, known_, *cpus_);
  enum : char { unknown, yes, no };
  std::vector<char> versions(table_->versions_.size()), compilers(table_->compilers_.size());
  auto once = [&](char& known, QueryPart about, const ImageRecord& part) {
    if (known == unknown) known = judge.suits(about, part) ? yes : no;
    return known == yes;
  };
  for (std::uint32_t i = application->second.first; i < application->second.end; ++i) {
    const SnapshotTable::Choice& choice = table_->choices_[i];
    if (!once(compilers[choice.compilers], QueryPart::compilers, table_->compilers_[choice.compilers]))
      continue;
    if (by_version && !once(versions[choice.version], QueryPart::version, table_->versions_[choice.version]))
      continue;
    if (judge.chooses(choice.part)) chosen.push_back({&choice, ranker.unasked(choice.part).size()});
  }
  return chosen;
}

const TableSelector::ChosenChoices& TableSelector::chosen_by(const ImageQuery& query,
                                                             const QueryClauses& judge) {
  // A server's clients must not fill its memory: 1 MiB of choices, and 512 kB of words.
  constexpr std::size_t kMostQuestions = 512, kMostWords = 1024, kMostChoices = 1u << 16;
  std::string words = choice_words(query);
  if (auto known = chosen_.find(words); known != chosen_.end()) return known->second;
  ChosenChoices chosen = choose(query, judge);
  if (words.size() > kMostWords) return not_kept_ = std::move(chosen);
  if (chosen_.size() >= kMostQuestions || kept_choices_ + chosen.size() > kMostChoices) {
    chosen_.clear();
    kept_choices_ = 0;
  }
  kept_choices_ += chosen.size();
  return chosen_.emplace(std::move(words), std::move(chosen)).first->second;
}

// Within a choice, these decide in this order: the build before (stale), the code, CUDA and the name.
const TableSelector::Positions& TableSelector::best_of(std::uint32_t shape, bool allow_failing,
                                                       Fits& fits) const {
  auto [at, is_new] = fits.best.try_emplace({shape, allow_failing});
  if (!is_new) return at->second;
  const SnapshotTable::Shape& kinds = table_->shapes_[shape];
  auto key_of = [&](std::uint32_t position) {
    const HostFit& fit = fits.hosts[kinds[position].host];
    return std::tuple(fit.by_ptx, fit.rank, fit.cuda_rank);
  };
  for (const bool stale : {false, true}) {
    Positions best;
    for (std::uint32_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i].stale != stale || kinds[i].retired || (kinds[i].failing && !allow_failing) ||
          !fits.hosts[kinds[i].host].runs)
        continue;
      if (!best.empty() && key_of(i) > key_of(best.front())) continue;
      if (!best.empty() && key_of(i) < key_of(best.front())) best.clear();
      best.push_back(i);
    }
    at->second.insert(at->second.end(), best.begin(), best.end());
  }
  return at->second;
}

void TableSelector::contend(const ImageQuery& query, const QueryClauses& judge, Fits& fits) {
  contenders_.clear();
  for (const auto& [choice, unasked] : chosen_by(query, judge)) {
    const SnapshotTable::Row* rows = &table_->rows_[choice->first];
    if (!has_near_[static_cast<std::size_t>(choice - table_->choices_.data())]) {
      for (const std::uint32_t position : best_of(choice->shape, query.allow_failing, fits))
        contenders_.push_back({rows + position, choice, unasked});
      continue;
    }
    for (const SnapshotTable::Row* row = rows; row != rows + (choice->end - choice->first); ++row)
      if (!row->retired && (!row->failing || query.allow_failing) && fits.hosts[row->host].runs)
        contenders_.push_back({row, choice, unasked});
  }
}

std::map<const SnapshotTable::Row*, Speed> TableSelector::speeds(const ImageQuery& query) const {
  std::map<const SnapshotTable::Row*, Speed> speeds;
  std::vector<const IndexEntry*> entries;
  std::map<const IndexEntry*, const SnapshotTable::Row*> rows;
  for (const Contender& contender : contenders_) {
    if (!is_near(*contender.row)) continue;
    entries.push_back(table_->measured_[contender.row->measured].get());
    rows.emplace(entries.back(), contender.row);
  }
  if (entries.empty()) return speeds;
  for (const auto& [entry, speed] : comparable_speeds(entries, query.workload, &host_.description))
    speeds.emplace(rows.at(entry), speed);
  return speeds;
}

const SnapshotTable::Image* TableSelector::best(const ImageQuery& query) {
  const QueryClauses judge(query, known_, *cpus_);
  Fits& fits = fits_for(query, judge);
  contend(query, judge, fits);
  if (contenders_.empty()) return nullptr;
  const auto measured = speeds(query);
  const bool any_release = query.version.names_pre_release();
  const bool wants_optimised = query.opt_build.value_or(false);
  const Ranker ranker(query, known_, *cpus_);
  // As ImageStanding, in numbers.
  using Key = std::tuple<bool, GainRank, bool, int, bool, bool, std::uint32_t, std::uint32_t, int,
                         std::size_t, std::uint32_t, std::uint32_t>;
  auto key_of = [&](const Contender& contender) {
    const auto& [row, choice, unasked] = contender;
    auto speed = measured.empty() ? measured.end() : measured.find(row);
    const bool has_speed = speed != measured.end();
    return Key(!any_release && choice->pre_release, ranker.gain(has_speed ? speed->second.measured : nullptr),
               !has_speed, has_speed ? speed->second.speed_class : 0, fits.hosts[row->host].by_ptx,
               wants_optimised && !choice->part.optimised, fits.hosts[row->host].rank, choice->version_rank,
               row->stale ? kDoubtful : doubts_[choice - table_->choices_.data()], unasked,
               fits.hosts[row->host].cuda_rank, row->image);
  };
  if (query.strict_gains && wants_optimised)
    std::erase_if(contenders_, [&](const Contender& contender) {
      return std::get<1>(key_of(contender)) != GainRank::proven;
    });
  if (contenders_.empty()) return nullptr;
  Key best = key_of(contenders_.front());
  for (const Contender& contender : contenders_) best = std::min(best, key_of(contender));
  return &table_->images_[std::get<11>(best)];
}

}  // namespace kiln
