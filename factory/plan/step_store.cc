#include "plan/step_store.h"

#include <algorithm>
#include <cstring>

#include "base/json_text.h"

namespace kiln {
namespace {

std::uint64_t mixed_pointer(std::uint64_t hash, const void* pointer) {
  return mixed(hash, reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace

std::size_t StepStore::PatternHash::operator()(const PatternKey& key) const {
  std::uint64_t hash = mixed_pointer(static_cast<std::uint64_t>(key.role), key.version);
  return mixed_pointer(mixed_pointer(hash, key.method), key.test);
}

const StepPattern& StepStore::pattern(StepRole role, const Chosen& chosen, const SmokeTest* test,
                                      const std::string& architecture) {
  PatternKey key{role, chosen.version, chosen.method, test, role == StepRole::base ? architecture : ""};
  auto found = patterns_.find(key);
  if (found == patterns_.end())
    found = patterns_.emplace(std::move(key), make_pattern(role, chosen, test, architecture)).first;
  return found->second;
}

std::uint64_t StepStore::hash_of(const Edge& edge) {
  std::uint64_t hash = mixed((std::uint64_t{edge.parent} << 32) | edge.from, 0);
  return mixed_pointer(mixed_pointer(hash, edge.pattern), edge.values);
}

// The key is a hash already.
std::uint64_t StepStore::hash_of_key(Number step) const {
  std::uint64_t hash = 0;
  std::memcpy(&hash, keys_[step].data(), sizeof hash);
  return hash;
}

void StepStore::write(const StepPattern& pattern, std::string_view parameters, Number parent, Number from) {
  parent_hex_.clear();
  from_hex_.clear();
  if (parent != kNone) append_hex(parent_hex_, keys_[parent]);
  if (from != kNone) append_hex(from_hex_, keys_[from]);
  write_inputs(text_, pattern, from_hex_, parameters, parent_hex_);
}

StepStore::Number StepStore::numbered(const Sha256& key) {
  std::uint64_t hash = 0;
  std::memcpy(&hash, key.data(), sizeof hash);
  Number known = by_key_.find(hash, [&](Number step) { return keys_[step] == key; });
  if (known != kNone) return known;
  auto step = static_cast<Number>(keys_.size());
  keys_.push_back(key);
  uses_.push_back(0);
  by_key_.insert(hash, step, [this](Number other) { return hash_of_key(other); });
  return step;
}

StepStore::Number StepStore::add(const StepPattern& pattern, const ScriptValues* values, Number parent,
                                 Number from) {
  Edge edge{&pattern, values, parent, from, kNone};
  std::uint64_t hash = hash_of(edge);
  Number known = by_edge_.find(hash, [&](Number index) {
    const Edge& other = edges_[index];
    return other.pattern == &pattern && other.values == values && other.parent == parent &&
           other.from == from;
  });
  if (known != kNone) return edges_[known].step;
  parameters_.clear();
  if (values != nullptr) append_json(parameters_, values->parameters);
  write(pattern, parameters_, parent, from);
  edge.step = numbered(hasher_.of(text_));
  edges_.push_back(edge);
  by_edge_.insert(hash, static_cast<Number>(edges_.size() - 1),
                  [this](Number index) { return hash_of(edges_[index]); });
  return edge.step;
}

StepStore::Number StepStore::add_single(const StepPattern& pattern, std::string_view parameters,
                                        Number parent) {
  write(pattern, parameters, parent, kNone);
  return numbered(hasher_.of(text_));
}

void StepStore::forget_uses() {
  std::fill(uses_.begin(), uses_.end(), 0);
  used_ = shared_ = 0;
}

bool StepStore::use(Number step) {
  std::uint32_t uses = ++uses_[step];
  if (uses == 1) ++used_;
  if (uses == 2) ++shared_;
  return uses == 1;
}

}  // namespace kiln
