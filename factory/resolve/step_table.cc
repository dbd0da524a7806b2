#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "factory/base/json_text.h"
#include "factory/resolve/parameter_values.h"
#include "factory/resolve/resolve.h"
#include "factory/resolve/step_pattern.h"

namespace kiln {
namespace {

std::uint64_t mixed_pointer(std::uint64_t hash, const void* pointer) {
  return mixed(hash, reinterpret_cast<std::uintptr_t>(pointer));
}

// The key is a hash already.
std::uint64_t hash_of_key(const Sha256& key) {
  std::uint64_t hash = 0;
  std::memcpy(&hash, key.data(), sizeof hash);
  return hash;
}

using HexDigits = std::array<char, 2 * std::tuple_size_v<Sha256>>;

std::string_view written_in(HexDigits& digits, const Sha256& key) {
  for (std::size_t i = 0; i < key.size(); ++i) {
    digits[2 * i] = "0123456789abcdef"[key[i] >> 4];
    digits[2 * i + 1] = "0123456789abcdef"[key[i] & 15];
  }
  return {digits.data(), digits.size()};
}

// "build-openblas", after the component that the stage is there for; longer where that name is taken.
std::string stage_name(const Step& built, const std::vector<StepTable::StageSteps>& others) {
  std::size_t slash = built.component.find('/');
  std::string name = "build-" + built.component.substr(slash + 1);
  auto taken = [&](const StepTable::StageSteps& stage) { return stage.name == name; };
  if (std::ranges::none_of(others, taken)) return name;
  return fmt::format("{}-{}-{}-{}", name, built.component.substr(0, slash), built.version, built.method);
}

}  // namespace

const Step& StepTable::pattern(Number step) const { return rows_[step].pattern->step; }

const std::vector<FlagOrigin>& StepTable::flags(Number step) const {
  static const std::vector<FlagOrigin> kNoFlags;
  return rows_[step].values == nullptr ? kNoFlags : rows_[step].values->flags;
}

// A JSON object, or nothing for a step without a script.
void StepTable::append_parameters(const Row& row, std::string& out) const {
  if (row.environment != nullptr)
    append_merged_json(out, *row.environment, row.values->parameters);
  else if (row.values != nullptr)
    append_json(out, row.values->parameters);
}

Step StepTable::step(Number number) const {
  const Row& row = rows_[number];
  Step step = row.pattern->step;
  step.key = hex(number);
  step.parent = hex(row.parent);
  step.from = hex(row.from);
  if (row.values != nullptr) step.parameters = row.values->parameters.map();
  if (row.environment != nullptr)
    for (const auto& [name, value] : *row.environment) step.parameters.emplace(name, value);
  std::string parameters;
  append_parameters(row, parameters);
  write_inputs(step.inputs, *row.pattern, step.from, parameters, step.parent);
  return step;
}

std::uint64_t StepTable::hash_of(const Row& row) {
  std::uint64_t hash = mixed((std::uint64_t{row.parent} << 32) | row.from, 0);
  return mixed_pointer(mixed_pointer(mixed_pointer(hash, row.pattern), row.values), row.environment);
}

StepTable::Number StepTable::add(const StepPattern& pattern, const ScriptValues* values,
                                 const PackedMap* environment, Number parent, Number from) {
  Row row{{}, &pattern, values, environment, parent, from, kNone};
  auto same = [&](Number number) {
    const Row& other = rows_[number];
    return other.pattern == &pattern && other.values == values && other.environment == environment &&
           other.parent == parent && other.from == from;
  };
  // A test is nearly always new: it stands upon an image. So it is not looked for before it is hashed.
  const bool is_test = environment != nullptr;
  const std::uint64_t hash = is_test ? 0 : hash_of(row);
  if (!is_test)
    if (Number known = by_row_.find(hash, same); known != kNone) return known;
  parameters_.clear();
  append_parameters(row, parameters_);
  HexDigits from_digits;
  HexDigits parent_digits;
  write_inputs(text_, pattern, from == kNone ? "" : written_in(from_digits, rows_[from].key), parameters_,
               parent == kNone ? "" : written_in(parent_digits, rows_[parent].key));
  row.key = hasher_.of(text_);
  row.first = first_of(row.key);
  if (is_test && row.first != size() && same(row.first)) return row.first;
  has_twins_ = has_twins_ || row.first != size();
  rows_.push_back(row);
  if (!is_test) by_row_.insert(hash, size() - 1, [this](Number number) { return hash_of(rows_[number]); });
  return size() - 1;
}

// Of the rows with this key, to which the next one belongs.
StepTable::Number StepTable::first_of(const Sha256& key) {
  const std::uint64_t hash = hash_of_key(key);
  Number known = by_key_.find(hash, [&](Number number) { return rows_[number].key == key; });
  if (known != kNone) return known;
  by_key_.insert(hash, size(), [this](Number number) { return hash_of_key(rows_[number].key); });
  return size();
}

void StepTable::close(const std::vector<Number>& needed) {
  std::vector<Number> first(has_twins_ ? rows_.size() : 0, kNone);
  for (Number step : needed)
    if (Number& leader = first[rows_[step].first]; leader == kNone) leader = step;
  if (has_twins_)
    for (Row& row : rows_)
      if (first[row.first] != kNone) row.first = first[row.first];
  by_key_ = {};
  by_row_ = {};
}

void StepTable::walk(Number last, Walked& walked) const {
  auto& [stages, laid] = walked;
  constexpr std::size_t kUsual = 16;  // steps of a stage
  std::vector<Number> chain;
  chain.reserve(kUsual);
  laid.reserve(laid.size() + kUsual);
  for (Number step = last; step != kNone; step = rows_[step].parent) chain.push_back(step);
  std::ranges::reverse(chain);
  for (Number step : chain) {
    const Number from = rows_[step].from;
    auto built = [&](const std::vector<Number>& stage) { return stage.back() == from; };
    if (from != kNone && std::ranges::none_of(stages, built)) walk(from, walked);
    laid.push_back(step);
  }
  stages.push_back(std::move(chain));
}

StepTable::Walked StepTable::walked(Number last) const {
  Walked walked;
  walk(last, walked);
  return walked;
}

std::vector<StepTable::StageSteps> StepTable::stages(Number last) const {
  Walked all = walked(last);
  std::vector<StageSteps> stages;
  for (std::vector<Number>& chain : all.stages) {
    std::string name = chain.back() == last ? "image" : stage_name(pattern(chain.back()), stages);
    stages.push_back({std::move(name), std::move(chain)});
  }
  return stages;
}

std::vector<StepTable::Number> StepTable::laid(Number last) const { return walked(last).laid; }

std::vector<StepTable::Number> StepTable::steps(Number last) const {
  const Walked all = walked(last);
  std::vector<Number> steps;
  steps.reserve(all.laid.size());
  for (const std::vector<Number>& chain : all.stages)
    for (Number step : chain) {
      auto same = [&](Number other) { return first(other) == first(step); };
      if (std::ranges::none_of(steps, same)) steps.push_back(step);
    }
  return steps;
}

}  // namespace kiln
