// Versions and version ranges. Versions are compared as versions, never as text.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

// A dotted version such as `2.10`, `2.6.0`, `1.5.1+cpu`, `3.0rc1`, `trixie`. Numeric parts compare as
// numbers, a missing part counts as zero (2.1 == 2.1.0), a pre-release (a, b, rc, dev) sorts before its
// release, other words sort after numbers alphabetically. `+local` parts order last and never matter to
// ranges (PEP 440 spirit).
class Version {
 public:
  Version() = default;
  explicit Version(std::string text);  // any text without blanks; throws Error(input) when empty or too long

  const std::string& text() const { return text_; }
  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return (*this <=> other) == 0; }

  // True when `this` names a series that `other` belongs to, part by part: 2.1 covers 2.1, 2.1.0 and 2.1.3,
  // never 2.10.
  bool covers(const Version& other) const;

  bool is_pre_release() const;  // it has a part such as a, b, rc or dev

 private:
  struct Part {
    bool numeric = false;
    std::string text;  // digits without leading zeros, or a lower-case word
  };
  static std::strong_ordering compare(const Part& a, const Part& b);
  std::string text_;
  std::vector<Part> parts_;  // without the +local part
  std::string local_;
};

// A conjunction of bounds: `>=2.1 <2.10`, `>=3,<4`, `!=2.16.0`, `==2.6.0`, or a bare version, which means its
// series: `2.1` matches 2.1.3, and so do `2.1.*` and `==2.1.*`. `>2.1` is after, `<=2.1` includes the whole
// series. `~=2.1.3` is `>=2.1.3` of the series 2.1 (PEP 440). `*` or "" matches everything.
class VersionRange {
 public:
  VersionRange() = default;
  static VersionRange parse(std::string_view text);  // throws Error(input) naming the bad clause
  bool contains(const Version& version) const;
  const std::string& text() const { return text_; }
  bool is_any() const { return clauses_.empty(); }
  // The version of a bare or `==` range with one clause: what a document asked for by name.
  std::optional<Version> exact() const;
  bool names_pre_release() const;  // a bound is one

 private:
  enum class Relation { series, not_series, equal, not_equal, less, less_equal, greater, greater_equal };
  struct Clause {
    Relation relation;
    Version version;
  };
  void add(std::string_view relation, std::string_view version);
  std::string text_ = "*";
  std::vector<Clause> clauses_;
};

// The newest of `versions` inside `range`, or nothing.
std::optional<Version> newest(const std::vector<Version>& versions, const VersionRange& range = {});

// A hint for a version that is not known: versions are near by their parts, not by their letters.

// "did you mean '2.6.0'?" for 2.6.1 among versions that are known: the version that shares the most
// leading parts, and of these the one whose next part is nearest; of two equally near ones the newer. A
// version that shares no part gets did_you_mean(), so that a misspelt word such as `trxie` finds its own.
// Empty: none is near.
std::string did_you_mean_version(std::string_view version, const std::vector<std::string>& known);

}  // namespace kiln
