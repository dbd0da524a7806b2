#include "registry/deploy/job_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/reading.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kMostOption = 1024;  // bytes; kiln's own limit
constexpr std::size_t kMostNumber = 9;     // digits

bool all_of_set(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter_or_digit(c) || more.find(c) != std::string_view::npos; });
}

bool is_number_text(std::string_view text) {
  return !text.empty() && text.size() <= kMostNumber && std::all_of(text.begin(), text.end(), is_digit);
}

// "n1,n[01-04]" at its commas outside brackets.
std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names(1);
  bool inside = false;
  for (const char c : text) {
    inside = c == '[' || (inside && c != ']');
    if (!inside && (c == ',' || c == '+'))
      names.emplace_back();
    else
      names.back() += c;
  }
  return names;
}

bool is_node_name(std::string_view name) {
  if (name.empty() || !is_letter_or_digit(name.front())) return false;
  std::size_t open = 0;
  for (const char c : name) {
    if (c == '[') ++open;
    if (c == ']' && open-- == 0) return false;
    if (open > 1 || (open == 0 && c == ',')) return false;
  }
  return open == 0 && all_of_set(name, "._-[],");
}

struct Span {
  std::string_view first, last, step;
};

// "7-9:2"; fields that are missing are "".
std::optional<Span> span_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view range = text.substr(0, colon);
  const std::size_t dash = range.find('-');
  Span span{range.substr(0, dash), dash == range.npos ? range : range.substr(dash + 1),
            colon == text.npos ? "1" : text.substr(colon + 1)};
  if (!is_number_text(span.first) || !is_number_text(span.last) || !is_number_text(span.step))
    return std::nullopt;
  if (colon != text.npos && dash == range.npos) return std::nullopt;
  const int first = std::stoi(std::string(span.first)), last = std::stoi(std::string(span.last));
  if (first > last || std::stoi(std::string(span.step)) == 0) return std::nullopt;
  return span;
}

}  // namespace

int read_count(const JsonNode& node, int least, int most) {
  if (node.is_number()) return static_cast<int>(node.integer(least, most));
  const std::string written = node.is_string() ? node.string() : "";
  const std::string_view text = trimmed(written);
  if (!is_number_text(text))
    node.fail(node.is_string() ? fmt::format("expected a whole number, found '{}'", written)
                               : "expected a whole number, found " + describe_type(node.value()));
  const int number = std::stoi(std::string(text));
  if (number < least || number > most)
    node.fail(fmt::format("expected a whole number from {} to {}, found {}", least, most, number));
  return number;
}

std::string read_option(const JsonNode& node) {
  std::string text(trimmed(node.line_of_text()));
  if (text.empty()) node.fail("expected a text, found an empty one", "leave the key out");
  if (text.size() > kMostOption) node.fail(fmt::format("more than {} bytes", kMostOption));
  return text;
}

std::string read_option_name(const JsonNode& node) {
  std::string text = read_option(node);
  const bool good = (is_letter_or_digit(text.front()) || text.front() == '_') && all_of_set(text, "_.@+-");
  if (!good) node.fail(fmt::format("'{}' is no name: expected letters, digits and _ . @ + -", text));
  return text;
}

std::uint64_t read_memory(const JsonNode& node) {
  constexpr const char* kHint = "a whole number and K, M, G or T, such as \"8GB\" or \"512MiB\"";
  if (node.is_number()) node.fail("expected an amount of memory with its unit, found a number", kHint);
  const std::string written = lower_case(read_option(node));
  const std::size_t end = std::min(written.find_first_not_of("0123456789"), written.size());
  const std::string_view number = std::string_view(written).substr(0, end);
  std::string_view unit = trimmed(std::string_view(written).substr(end));
  if (unit.ends_with('b')) unit.remove_suffix(1);
  if (unit.ends_with('i')) unit.remove_suffix(1);
  const std::size_t power = unit.size() == 1 ? std::string_view("kmgt").find(unit) : std::string_view::npos;
  if (!is_number_text(number) || power == std::string_view::npos)
    node.fail(fmt::format("expected an amount of memory, found '{}'", written), kHint);
  const std::uint64_t amount = std::stoull(std::string(number));
  const std::size_t shift = 10 * (power + 1);
  if (amount == 0) node.fail("memory of 0 bytes: Slurm would give the whole node");
  constexpr std::uint64_t kMost = 1ull << 50;
  if (amount > kMost >> shift) node.fail("expected at most 1024T of memory");
  return amount << shift;
}

std::string mebibytes_text(std::uint64_t bytes, std::string_view unit) {
  constexpr std::uint64_t kOneMiB = 1u << 20;
  return fmt::format("{}{}", (bytes + kOneMiB - 1) / kOneMiB, unit);
}

std::vector<std::string> read_node_names(const JsonNode& node) {
  std::vector<std::string> names;
  if (node.is_array()) {
    for (const JsonNode& item : node.items()) names.push_back(read_option(item));
  } else {
    names = split_names(read_option(node));
  }
  for (std::string& name : names) {
    name = trimmed(name);
    if (!is_node_name(name)) node.fail(fmt::format("'{}' is no name of a node", name), "such as n1,n[02-04]");
  }
  return names;
}

std::string read_array(const JsonNode& node) {
  constexpr const char* kHint = "such as \"0-15\", \"1,3,7\" or \"0-99%10\"";
  std::string text = node.is_number() ? std::to_string(node.integer(0, 999'999'999)) : read_option(node);
  const std::size_t percent = text.find('%');
  const std::string_view most = percent == text.npos ? "1" : std::string_view(text).substr(percent + 1);
  bool good = is_number_text(most) && std::stoi(std::string(most)) > 0;
  for (const std::string_view part : split(std::string_view(text).substr(0, percent), ','))
    good = good && span_of(part).has_value();
  if (!good) node.fail(fmt::format("'{}' is no list of array indices", text), kHint);
  return text;
}

std::string read_dependency(const JsonNode& node) {
  static const std::vector<std::string> kTypes = {
      "after",  "afterany",  "afterburstbuffer", "afternotok", "afterok", "aftercorr",
      "before", "beforeany", "beforenotok",      "beforeok",   "on",      "singleton"};
  std::string text = read_option(node);
  const char between = text.find('?') == text.npos ? ',' : '?';
  for (const std::string_view part : split(text, between)) {
    const auto words = split(part, ':');
    const std::string type(words.front());
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
      node.fail(fmt::format("'{}' is no kind of dependency", type),
                words.size() == 1 ? "such as afterok:123" : did_you_mean(type, kTypes));
    if ((words.size() == 1) != (type == "singleton"))
      node.fail(fmt::format("'{}' names no job", type), "such as afterok:123");
    for (std::size_t i = 1; i < words.size(); ++i)
      if (words[i].empty() || !is_digit(words[i].front()) || !all_of_set(words[i], "_.+[]-"))
        node.fail(fmt::format("'{}' is no number of a job", words[i]), "such as afterok:123");
  }
  return text;
}

std::string read_address(const JsonNode& node) {
  std::string text = read_option(node);
  const std::size_t at = text.find('@');
  const bool good = at != text.npos && at > 0 && at + 1 < text.size() && text.rfind('@') == at &&
                    is_letter_or_digit(text.front()) && all_of_set(text, "@._%+-");
  if (!good) node.fail(fmt::format("'{}' is no e-mail address", text), "such as user@example.org");
  return text;
}

std::vector<JobVariable> read_variables(const JsonNode& node) {
  std::vector<std::string> items;
  if (node.is_array()) {
    for (const JsonNode& item : node.items()) items.push_back(item.line_of_text());
  } else {
    const std::string text = read_option(node);
    for (const std::string_view part : split(text, ',')) items.emplace_back(trimmed(part));
  }
  std::vector<JobVariable> variables;
  for (const std::string& item : items) {
    const std::size_t equals = item.find('=');
    JobVariable variable{item.substr(0, equals), std::nullopt};
    if (!is_variable_name(variable.name))
      node.fail(fmt::format("'{}' is no name of a variable", variable.name), "such as \"PATH,SEED=1\"");
    if (equals != item.npos) variable.value = item.substr(equals + 1);
    variables.push_back(std::move(variable));
  }
  return variables;
}

}  // namespace kiln
