// The keys of all steps of a plan while it is made: equal steps are one, and what images begin alike is
// hashed once. Used by resolve only.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>

#include "base/digest.h"
#include "plan/hash_index.h"
#include "plan/parameter_values.h"
#include "plan/step_pattern.h"

namespace kiln {

class StepStore {
 public:
  using Number = HashIndex::Number;
  static constexpr Number kNone = HashIndex::kNone;  // no step: of "parent" and "from"

  // The pattern of a step, made once. REQUIRES: component, version, method and test stay where they are.
  // Throws Error(input) as make_pattern does.
  const StepPattern& pattern(StepRole role, const Chosen& chosen, const SmokeTest* test,
                             const std::string& architecture);

  // The step of this pattern and these values upon `parent`, the same number for the same key. `values` may
  // be null. REQUIRES: pattern and values stay where they are.
  Number add(const StepPattern& pattern, const ScriptValues* values, Number parent, Number from);
  // A step whose parameters are nobody else's. `parameters`: a JSON object.
  Number add_single(const StepPattern& pattern, std::string_view parameters, Number parent);

  const Sha256& key(Number step) const { return keys_[step]; }
  std::string hex(Number step) const { return step == kNone ? "" : hex_of(keys_[step]); }
  Sha256 hash(std::string_view text) { return hasher_.of(text); }

  // Some image needs the step. True for the first one.
  bool use(Number step);
  void forget_uses();
  std::size_t uses(Number step) const { return uses_[step]; }
  std::size_t used() const { return used_; }      // steps that an image needs
  std::size_t shared() const { return shared_; }  // that several need
  Number size() const { return static_cast<Number>(keys_.size()); }

 private:
  struct Edge {
    const StepPattern* pattern;
    const ScriptValues* values;
    Number parent;
    Number from;
    Number step;
  };
  struct PatternKey {
    StepRole role;
    const ComponentVersion* version;
    const Method* method;
    const SmokeTest* test;
    std::string architecture;
    bool operator==(const PatternKey&) const = default;
  };
  struct PatternHash {
    std::size_t operator()(const PatternKey& key) const;
  };
  static std::uint64_t hash_of(const Edge& edge);
  std::uint64_t hash_of_key(Number step) const;
  void write(const StepPattern& pattern, std::string_view parameters, Number parent, Number from);
  Number numbered(const Sha256& key);

  TextHasher hasher_;
  std::unordered_map<PatternKey, StepPattern, PatternHash> patterns_;
  std::deque<Sha256> keys_;  // by number
  std::deque<std::uint32_t> uses_;
  std::size_t used_ = 0;
  std::size_t shared_ = 0;
  HashIndex by_key_;
  std::deque<Edge> edges_;
  HashIndex by_edge_;
  std::string text_;        // of the last step
  std::string parameters_;  // of the last step
  std::string parent_hex_;
  std::string from_hex_;
};

}  // namespace kiln
