#include "factory/base/version.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "factory/base/enum_names.h"
#include "factory/base/error.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

// Pre-releases sort before the release they announce; "post" after it; other words last.
int word_rank(const std::string& word) {
  if (word == "dev") return -4;
  if (word == "a" || word == "alpha") return -3;
  if (word == "b" || word == "beta") return -2;
  if (word == "rc" || word == "c" || word == "pre") return -1;
  if (word == "post") return 1;
  return 3;
}

std::strong_ordering compare_numbers(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

}  // namespace

Version::Version(std::string text) : text_(std::move(text)) {
  if (text_.empty() || text_.size() > 128)
    throw Error(ExitCode::input, "a version is 1 to 128 characters long");
  for (char c : text_)
    if (!is_digit(c) && !is_letter(c) && !contains(".+-_~:", c))
      throw Error(ExitCode::input, "'" + text_ + "' is not a version",
                  "letters, digits and . + - _ ~ : only");
  std::size_t plus = text_.find('+');
  if (plus != std::string::npos) local_ = text_.substr(plus + 1);
  std::string_view rest = std::string_view(text_).substr(0, plus);
  for (std::size_t i = 0; i < rest.size();) {
    std::size_t start = i;
    if (is_digit(rest[i])) {
      while (i < rest.size() && is_digit(rest[i])) ++i;
      while (start + 1 < i && rest[start] == '0') ++start;
      parts_.push_back({true, std::string(rest.substr(start, i - start))});
    } else if (is_letter(rest[i])) {
      while (i < rest.size() && is_letter(rest[i])) ++i;
      parts_.push_back({false, lower_case(rest.substr(start, i - start))});
    } else {
      ++i;
    }
  }
  if (parts_.size() > 1 && !parts_[0].numeric && parts_[0].text == "v") parts_.erase(parts_.begin());
}

std::strong_ordering Version::compare(const Part& a, const Part& b) {
  if (a.numeric && b.numeric) return compare_numbers(a.text, b.text);
  // Against words, zero (a missing part too) stands between pre-releases and "post", other numbers after
  // "post".
  auto rank = [](const Part& part) {
    return part.numeric ? (part.text == "0" ? 0 : 2) : word_rank(part.text);
  };
  int rank_a = rank(a);
  int rank_b = rank(b);
  if (rank_a != rank_b) return rank_a <=> rank_b;
  return a.text.compare(b.text) <=> 0;
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  static const Part kZero{true, "0"};
  for (std::size_t i = 0; i < std::max(parts_.size(), other.parts_.size()); ++i) {
    const Part& a = i < parts_.size() ? parts_[i] : kZero;
    const Part& b = i < other.parts_.size() ? other.parts_[i] : kZero;
    if (auto order = compare(a, b); order != 0) return order;
  }
  return local_.compare(other.local_) <=> 0;
}

bool Version::covers(const Version& other) const {
  static const Part kZero{true, "0"};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& b = i < other.parts_.size() ? other.parts_[i] : kZero;
    if (compare(parts_[i], b) != 0) return false;
  }
  return local_.empty() || local_ == other.local_;
}

bool Version::is_pre_release() const {
  return std::ranges::any_of(parts_,
                             [](const Part& part) { return !part.numeric && word_rank(part.text) < 0; });
}

namespace {

// "2.1-2.3": numbers with dots on both sides, the right one the larger; a package's revision is not so.
bool joins_versions(std::string_view word) {
  const std::size_t dash = word.find('-');
  if (dash == std::string_view::npos) return false;
  auto is_dotted = [](std::string_view text) {
    return contains(text, '.') && is_digit(text.front()) &&
           text.find_first_not_of("0123456789.") == std::string_view::npos;
  };
  const std::string_view left = word.substr(0, dash), right = word.substr(dash + 1);
  return is_dotted(left) && is_dotted(right) && Version(std::string(left)) < Version(std::string(right));
}

// Whether a word of a range can be meant as a version; `bare`: without a relation in front of it.
bool is_range_word(std::string_view word, bool bare) {
  if (contains(word, "..") || (bare && joins_versions(word))) return false;
  if (!is_digit(word.front()) && !is_letter(word.front())) return false;
  if (lower_case(word).ends_with(".x")) return false;
  return is_digit(word.back()) || is_letter(word.back()) || word.back() == '~' || word.ends_with(".*");
}

bool has_digit(std::string_view word) { return std::ranges::any_of(word, is_digit); }

Error no_range(std::string_view text) {
  return {ExitCode::input, "'" + std::string(text) + "' is not a version range",
          "write a version (2.1 means the 2.1 series) or bounds such as '>=2.1 <2.10'"};
}

}  // namespace

// One bound; nothing is added for what is none.
void VersionRange::add(std::string_view relation, std::string_view version) {
  static constexpr auto kRelations = enum_names<Relation>({{Relation::series, ""},
                                                           {Relation::equal, "=="},
                                                           {Relation::not_equal, "!="},
                                                           {Relation::less, "<"},
                                                           {Relation::less_equal, "<="},
                                                           {Relation::greater, ">"},
                                                           {Relation::greater_equal, ">="}});
  if (relation == "~=") {
    const std::size_t last = version.rfind('.');
    if (last == std::string_view::npos) return;  // no series holds every version that begins so
    clauses_.push_back({Relation::greater_equal, Version(std::string(version))});
    clauses_.push_back({Relation::series, Version(std::string(version.substr(0, last)))});
    return;
  }
  auto kind = kRelations.find(relation == "=" ? "==" : relation);
  if (!kind) return;
  if (version.ends_with(".*") && version.size() > 2) {
    version.remove_suffix(2);
    if (*kind == Relation::equal)
      kind = Relation::series;
    else if (*kind == Relation::not_equal)
      kind = Relation::not_series;
    else if (*kind != Relation::series)
      return;
  }
  if (!kiln::contains(version, '*')) clauses_.push_back({*kind, Version(std::string(version))});
}

VersionRange VersionRange::parse(std::string_view text) {
  constexpr std::string_view kOperators = "<>=!~";
  VersionRange range;
  range.text_ = std::string(text);
  std::string_view name;  // a bare word without a number, which stands alone: trixie
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] == ' ' || text[i] == ',') {
      ++i;
      continue;
    }
    std::size_t start = i;
    while (i < text.size() && kiln::contains(kOperators, text[i])) ++i;
    std::string_view relation = text.substr(start, i - start);
    while (i < text.size() && text[i] == ' ' && !relation.empty()) ++i;
    std::size_t word = i;
    while (i < text.size() && text[i] != ' ' && text[i] != ',') ++i;
    std::string_view version = text.substr(word, i - word);
    if (version == "*" && relation.empty()) continue;
    const std::size_t before = range.clauses_.size();
    if (!version.empty() && version.find_first_of("<>=!") == std::string_view::npos &&
        is_range_word(version, relation.empty()))
      range.add(relation, version);
    if (range.clauses_.size() == before) throw no_range(text.substr(start, i - start));
    if (relation.empty() && !has_digit(version)) name = version;
  }
  if (!name.empty() && range.clauses_.size() > 1) throw no_range(name);
  if (range.clauses_.empty()) range.text_ = "*";
  // Two series that no version is of: a list, or what is left of "2.1 to 2.3".
  const Version* series = nullptr;
  for (const Clause& clause : range.clauses_) {
    if (clause.relation != Relation::series) continue;
    if (series != nullptr && !series->covers(clause.version) && !clause.version.covers(*series))
      throw no_range(text);
    series = &clause.version;
  }
  return range;
}

bool VersionRange::contains(const Version& version) const {
  return std::ranges::all_of(clauses_, [&](const Clause& clause) {
    switch (clause.relation) {
      case Relation::series:
        return clause.version.covers(version);
      case Relation::not_series:
      case Relation::not_equal:  // `!=2.1` leaves out what `2.1` holds
        return !clause.version.covers(version);
      case Relation::equal:
        return version == clause.version;
      case Relation::less:
        return version < clause.version;
      case Relation::less_equal:
        return version <= clause.version || clause.version.covers(version);
      case Relation::greater:
        return version > clause.version && !clause.version.covers(version);
      case Relation::greater_equal:
        return version >= clause.version;
    }
    return false;
  });
}

std::optional<Version> VersionRange::exact() const {
  if (clauses_.size() != 1) return std::nullopt;
  const Clause& only = clauses_.front();
  if (only.relation != Relation::series && only.relation != Relation::equal) return std::nullopt;
  return only.version;
}

bool VersionRange::names_pre_release() const {
  return std::ranges::any_of(clauses_, [](const Clause& clause) { return clause.version.is_pre_release(); });
}

std::optional<Version> newest(const std::vector<Version>& versions, const VersionRange& range) {
  std::optional<Version> best;
  for (const Version& version : versions)
    if (range.contains(version) && (!best || *best < version)) best = version;
  return best;
}

namespace {

std::vector<std::string_view> parts_of(std::string_view version) { return split(version, ".-+_"); }

std::int64_t number_of(std::string_view part) {
  // a word is far from every number
  return as_number<std::int64_t>(part).value_or(std::numeric_limits<std::int64_t>::max());
}

// How near `other` is: parts shared, then the distance of the first that differs; a missing part is 0.
std::tuple<std::size_t, std::int64_t> nearness(std::string_view version, std::string_view other) {
  const auto wanted = parts_of(version);
  const auto found = parts_of(other);
  std::size_t shared = 0;
  while (shared < wanted.size() && shared < found.size() && wanted[shared] == found[shared]) ++shared;
  auto part = [&](const auto& parts) { return shared < parts.size() ? number_of(parts[shared]) : 0; };
  const std::int64_t distance = part(wanted) - part(found);
  return {shared, distance < 0 ? distance : -distance};
}

}  // namespace

std::string did_you_mean_version(std::string_view version, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  std::tuple<std::size_t, std::int64_t> best_nearness{0, 0};
  for (const std::string& other : known) {
    const auto near = nearness(version, other);
    if (std::get<0>(near) == 0) continue;
    const bool newer = best != nullptr && near == best_nearness && Version(other) > Version(*best);
    if (best != nullptr && near <= best_nearness && !newer) continue;
    best = &other;
    best_nearness = near;
  }
  return best == nullptr ? did_you_mean(version, known) : "did you mean '" + *best + "'?";
}

}  // namespace kiln
