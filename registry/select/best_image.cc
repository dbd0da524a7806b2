#include "registry/select/best_image.h"

#include <algorithm>
#include <compare>
#include <deque>
#include <map>
#include <tuple>

#include "factory/base/text.h"
#include "registry/index/image_profiles.h"
#include "registry/select/query_clauses.h"
#include "registry/select/ranking.h"

namespace kiln {
namespace {

struct Choice {
  ImageRecord part;
  bool suits = false;
  int doubt = 0;
  std::size_t unasked = 0;  // components
};

struct HostFit {
  bool runs = false;
  CodeFit code;
};

struct Contender {
  const Choice* choice;
  const HostFit* fit;
  TagRow tag;
};

class BestImage {
 public:
  BestImage(IndexState& state, const ImageQuery& query, const Host& host, const Microarchitectures& cpus)
      : state_(state),
        query_(query),
        host_(host),
        known_(known_host(host.description, host.known, cpus)),
        judge_(query, known_, cpus),
        ranker_(query, known_, cpus),
        by_version_(asks_version_of_application(query)) {}

  std::optional<RawEntry> find() {
    const Asked asked = asked_for(state_, {});
    if (!asked.live || asked.number < 0) return std::nullopt;
    for (const ApplicationRow& row : state_.applications(asked.current))
      if (row.application == lower_case(query_.application)) contend(row);
    if (contenders_.empty()) return std::nullopt;
    Contender* found = best();
    return found == nullptr ? std::nullopt : std::optional(raw_entry(state_, std::move(found->tag)));
  }

 private:
  // What decides before a place does: whether the version is a release, then whether it is a stock image.
  struct Rank {
    bool pre_release = false;
    bool stock = false;
    auto operator<=>(const Rank&) const = default;
  };
  Rank rank_of(const ChoiceRow& row) const {
    const bool any_release = query_.version.names_pre_release() || row.version.empty();
    return {!any_release && Version(row.version).is_pre_release(),
            query_.opt_build.value_or(false) && !row.optimised};
  }

  // A choice whose row does not tell that it does not suit.
  struct Suiting {
    Rank rank;
    Version version;
    ChoiceRow row;
  };

  // The best rank that has contenders with machine code is enough, but for what was measured: that comes
  // before the build, or behind all others if it is slower than stock, and all measured images that qualify
  // have a say in which speeds are compared.
  void contend(const ApplicationRow& application) {
    std::vector<Suiting> suiting;
    for (ChoiceRow& row : state_.choices_of(application))
      if (may_suit(row))
        suiting.push_back(
            {rank_of(row), row.version.empty() ? Version() : Version(row.version), std::move(row)});
    std::vector<const Suiting*> best_first;
    best_first.reserve(suiting.size());
    for (const Suiting& one : suiting) best_first.push_back(&one);
    std::ranges::stable_sort(best_first, [](const Suiting* a, const Suiting* b) {
      return a->rank != b->rank ? a->rank < b->rank : a->version > b->version;
    });
    const bool speeds_decide =
        host_.known && std::ranges::any_of(suiting, [](const auto& one) { return one.row.measured != 0; });
    std::optional<Rank> best;
    for (const Suiting* one : best_first) {
      if (best && one->rank != *best && (!speeds_decide || one->row.measured == 0)) continue;
      if (speeds_decide)
        contend(one->row);
      else
        contend_unmeasured(*one);
      if (!best && has_machine_code_) best = one->rank;
    }
  }

  void contend(const ChoiceRow& row) {
    const Choice& choice = choice_of(row.choice);
    if (!choice.suits) return;
    each_running(row, [&](const HostFit& fit, TagRow& tag) { add({&choice, &fit, std::move(tag)}); });
  }

  // Where no speed decides, the profile of a choice is read only where its image would not be worse than the
  // best so far: of thousands of choices few are. The newest come first.
  void contend_unmeasured(const Suiting& one) {
    const Choice* choice = nullptr;
    each_running(one.row, [&](const HostFit& fit, TagRow& tag) {
      ImageStanding here;
      here.pre_release = one.rank.pre_release;
      here.by_ptx = ranker_.by_ptx(fit.code);
      here.stock = one.rank.stock;
      here.code = fit.code;
      here.version = &one.version;
      if (is_worse(here)) return;
      if (choice == nullptr) choice = &choice_of(one.row.choice);
      if (!choice->suits) return;
      here.version = &choice->part.version;
      here.doubt = tag.tagged.stale ? kDoubtful : choice->doubt;
      here.unasked = choice->unasked;
      if (is_worse(here)) return;
      if (contenders_.empty() || std::is_lt(difference(here, best_so_far_).order)) {
        contenders_.clear();
        best_so_far_ = here;
      }
      add({choice, &fit, std::move(tag)});
    });
  }

  void add(Contender contender) {
    const bool may_be_last = contender.tag.measured && query_.opt_build.value_or(false);
    has_machine_code_ = has_machine_code_ || (!may_be_last && !ranker_.by_ptx(contender.fit->code));
    contenders_.push_back(std::move(contender));
  }

  bool is_worse(const ImageStanding& here) const {
    return !contenders_.empty() && std::is_gt(difference(here, best_so_far_).order);
  }

  // Of tags that may be answered with, and whose place runs.
  template <typename Use>
  void each_running(const ChoiceRow& row, const Use& use) {
    for (TagRow& tag : state_.tags_of(row)) {
      if (tag.lost || !tag.tagged.retired.empty()) continue;
      if (tag.tagged.failing && !query_.allow_failing) continue;
      if (const HostFit& fit = fit_of(tag.place); fit.runs) use(fit, tag);
    }
  }

  // By the words of its profile that its row has: most choices are sorted out without their profile.
  bool may_suit(const ChoiceRow& row) {
    const std::string build{row.external ? '1' : '0', row.optimised ? '1' : '0'};
    if (!once(builds_, build, [&] {
          ImageRecord part = bare_profile(row.external);
          part.optimised = row.optimised;
          return judge_.suits(QueryPart::build, part);
        }))
      return false;
    if (names_compilers(row) && !once(compilers_, row.compilers, [&] {
          ImageRecord part = bare_profile(row.external);
          for (const std::string& name : words_from(row.compilers))
            part.components.push_back({"compiler", name, {}, "", false});
          return judge_.suits(QueryPart::compilers, part);
        }))
      return false;
    return !by_version_ || once(versions_, row.version, [&] {
      ImageRecord part = bare_profile(row.external);
      if (!row.version.empty()) part.version = Version(row.version);
      return judge_.suits(QueryPart::version, part);
    });
  }

  // The row of a mapping that was imported where no recipe named its compilers is without them; they are
  // looked at where some are asked for, in its profile.
  bool names_compilers(const ChoiceRow& row) const {
    return !row.external || !row.compilers.empty() ||
           std::ranges::none_of(query_.compilers, [](const auto& compiler) { return compiler.second; });
  }

  template <typename Find>
  static bool once(std::map<std::string, bool>& known, const std::string& key, Find find) {
    auto [at, is_new] = known.try_emplace(key, false);
    if (is_new) at->second = find();
    return at->second;
  }

  const Choice& choice_of(std::int64_t number) {
    auto [at, is_new] = choices_.try_emplace(number);
    if (!is_new || number == 0) return at->second;
    at->second.part = profile_record(state_, number);
    at->second.suits = judge_.chooses(at->second.part);
    at->second.doubt = ranker_.doubt(at->second.part, at->second.part.tests);
    at->second.unasked = ranker_.unasked(at->second.part).size();
    return at->second;
  }

  const HostFit& fit_of(std::int64_t number) {
    auto [at, is_new] = fits_.try_emplace(number);
    if (!is_new) return at->second;
    const ImageRecord part = profile_record(state_, number);
    at->second.runs = judge_.runs(part);
    if (at->second.runs) at->second.code = ranker_.code(part);
    return at->second;
  }

  // Of the contenders that were measured: the entries must stay while the speeds are used.
  std::map<const Contender*, Speed> speeds() {
    if (!host_.known) return {};
    std::map<const IndexEntry*, const Contender*> measured;
    std::vector<const IndexEntry*> entries;
    for (const Contender& contender : contenders_) {
      if (!contender.tag.measured) continue;
      entries_.push_back(parsed(raw_entry(state_, contender.tag)));
      entries.push_back(&entries_.back());
      measured.emplace(entries.back(), &contender);
    }
    std::map<const Contender*, Speed> speeds;
    for (const auto& [entry, speed] : comparable_speeds(entries, query_.workload, &host_.description))
      speeds.emplace(measured.at(entry), speed);
    return speeds;
  }

  // nullptr: gains are to be proven, and none is.
  Contender* best() {
    const bool only_proven = query_.strict_gains && query_.opt_build.value_or(false);
    const std::map<const Contender*, Speed> measured = speeds();
    std::vector<Contender*> equals;
    ImageStanding standing;
    for (Contender& contender : contenders_) {
      auto speed = measured.find(&contender);
      ImageStanding here = ranker_.standing(contender.choice->part, contender.fit->code,
                                            speed == measured.end() ? Speed{} : speed->second,
                                            contender.tag.tagged.stale ? kDoubtful : contender.choice->doubt);
      if (only_proven && here.gain != GainRank::proven) continue;
      const auto order = equals.empty() ? std::strong_ordering::less : difference(here, standing).order;
      if (std::is_gt(order)) continue;
      if (std::is_lt(order)) {
        equals.clear();
        standing = here;
      }
      equals.push_back(&contender);
    }
    if (equals.empty()) return nullptr;
    return equals.size() == 1 ? equals.front() : first_by_name(equals);
  }

  // Only the record of a mapping has its name.
  Contender* first_by_name(const std::vector<Contender*>& equals) {
    std::map<std::tuple<std::string, std::string, Digest>, Contender*> names;
    for (Contender* contender : equals) {
      const TagRow& tag = contender->tag;
      if (!contender->choice->part.external()) {
        names.emplace(
            std::tuple(tag.name.first + ":" + tag.name.second, "", Digest::from_hex(tag.tagged.image)),
            contender);
        continue;
      }
      const IndexEntry entry = parsed(raw_entry(state_, tag));
      names.emplace(std::tuple(entry.image.name(), entry.image.code, entry.image.manifest), contender);
    }
    return names.begin()->second;
  }

  IndexState& state_;
  const ImageQuery& query_;
  const Host& host_;
  std::optional<KnownHost> known_;
  QueryClauses judge_;
  Ranker ranker_;
  bool by_version_;  // the application's
  std::map<std::string, bool> builds_, compilers_, versions_;
  std::map<std::int64_t, Choice> choices_;
  std::map<std::int64_t, HostFit> fits_;
  std::deque<Contender> contenders_;
  ImageStanding best_so_far_;      // of contenders_, where no speed decides
  bool has_machine_code_ = false;  // one of them does, or needs none
  std::deque<IndexEntry> entries_;
};

}  // namespace

std::optional<IndexEntry> best_image(const Index& index, const ImageQuery& query, const Host& host,
                                     const Microarchitectures& cpus) {
  return index.found_by([&](IndexState& state) { return best_image(state, query, host, cpus); });
}

std::optional<RawEntry> best_image(IndexState& state, const ImageQuery& query, const Host& host,
                                   const Microarchitectures& cpus) {
  return BestImage(state, query, host, cpus).find();
}

}  // namespace kiln
