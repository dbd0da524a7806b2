#include "registry/deploy/job_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "factory/base/reading.h"
#include "factory/base/text.h"
#include "registry/select/dsl_words.h"

namespace kiln {

namespace {

constexpr std::size_t kMostOption = 1024;  // bytes; kiln's own limit
constexpr std::size_t kMostNumber = 9;     // digits

bool all_of_set(std::string_view text, std::string_view more) {
  return std::ranges::all_of(text, [&](char c) { return is_letter_or_digit(c) || contains(more, c); });
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

// "7", "7-9" or "7-9:2".
bool is_span(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view range = text.substr(0, colon);
  const std::size_t dash = range.find('-');
  if (colon != text.npos && dash == range.npos) return false;
  const auto first = whole_number(range.substr(0, dash));
  const auto last = dash == range.npos ? first : whole_number(range.substr(dash + 1));
  const auto step = colon == text.npos ? std::optional(1) : whole_number(text.substr(colon + 1));
  return first && last && step && *first <= *last && *step > 0;
}

}  // namespace

std::optional<int> whole_number(std::string_view text) {
  if (text.empty() || text.size() > kMostNumber || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  return std::stoi(std::string(text));
}

int read_count(const JsonNode& node, int least, int most) {
  if (node.is_number()) return static_cast<int>(node.integer(least, most));
  const std::string written = node.is_string() ? node.string() : "";
  const auto number = whole_number(trimmed(written));
  if (!number)
    node.fail(node.is_string() ? fmt::format("expected a whole number, found '{}'", written)
                               : "expected a whole number, found " + describe_type(node.value()));
  if (*number < least || *number > most)
    node.fail(fmt::format("expected a whole number from {} to {}, found {}", least, most, *number));
  return *number;
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
  if (!good) node.fail(fmt::format("invalid name '{}': expected letters, digits and _ . @ + -", text));
  return text;
}

std::uint64_t read_memory(const JsonNode& node) {
  constexpr const char* kHint = "a whole number and K, M, G or T, such as \"8GB\" or \"512MiB\"";
  if (node.is_number()) node.fail("expected an amount of memory with its unit, found a number", kHint);
  const std::string written = lower_case(read_option(node));
  const std::size_t end = std::min(written.find_first_not_of("0123456789"), written.size());
  const auto number = whole_number(std::string_view(written).substr(0, end));
  std::string_view unit = trimmed(std::string_view(written).substr(end));
  if (unit.ends_with('b')) unit.remove_suffix(1);
  if (unit.ends_with('i')) unit.remove_suffix(1);
  const std::size_t power = unit.size() == 1 ? std::string_view("kmgt").find(unit) : std::string_view::npos;
  if (!number || power == std::string_view::npos)
    node.fail(fmt::format("expected an amount of memory, found '{}'", written), kHint);
  const auto amount = static_cast<std::uint64_t>(*number);
  const std::size_t shift = 10 * (power + 1);
  if (amount == 0) node.fail("memory of 0 bytes is not allowed: Slurm reads it as the whole node");
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
    if (!is_node_name(name))
      node.fail(fmt::format("invalid node name '{}'", name), "for example n1,n[02-04]");
  }
  return names;
}

std::string read_array(const JsonNode& node) {
  constexpr const char* kHint = "for example \"0-15\", \"1,3,7\" or \"0-99%10\"";
  std::string text = node.is_number() ? std::to_string(node.integer(0, 999'999'999)) : read_option(node);
  const std::size_t percent = text.find('%');
  bool good =
      percent == text.npos || whole_number(std::string_view(text).substr(percent + 1)).value_or(0) > 0;
  for (const std::string_view part : split(std::string_view(text).substr(0, percent), ','))
    good = good && is_span(part);
  if (!good) node.fail(fmt::format("invalid list of array indices '{}'", text), kHint);
  return text;
}

std::string read_dependency(const JsonNode& node) {
  static const std::vector<std::string> kTypes = {
      "after",  "afterany",  "afterburstbuffer", "afternotok", "afterok", "aftercorr",
      "before", "beforeany", "beforenotok",      "beforeok",   "on",      "singleton"};
  std::string text = read_option(node);
  const char between = contains(text, '?') ? '?' : ',';
  for (const std::string_view part : split(text, between)) {
    const auto words = split(part, ':');
    const std::string type(words.front());
    if (!contains(kTypes, type))
      node.fail(fmt::format("unknown kind of dependency '{}'", type),
                words.size() == 1 ? "for example afterok:123" : did_you_mean(type, kTypes));
    if ((words.size() == 1) != (type == "singleton"))
      node.fail(fmt::format("'{}' names no job", type), "for example afterok:123");
    for (std::size_t i = 1; i < words.size(); ++i)
      if (words[i].empty() || !is_digit(words[i].front()) || !all_of_set(words[i], "_.+[]-"))
        node.fail(fmt::format("invalid job number '{}'", words[i]), "for example afterok:123");
  }
  return text;
}

std::string read_address(const JsonNode& node) {
  std::string text = read_option(node);
  const std::size_t at = text.find('@');
  const bool good = at != text.npos && at > 0 && at + 1 < text.size() && text.rfind('@') == at &&
                    is_letter_or_digit(text.front()) && all_of_set(text, "@._%+-");
  if (!good) node.fail(fmt::format("invalid e-mail address '{}'", text), "for example user@example.org");
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
      node.fail(fmt::format("invalid variable name '{}'", variable.name), "for example \"PATH,SEED=1\"");
    if (equals != item.npos) variable.value = item.substr(equals + 1);
    variables.push_back(std::move(variable));
  }
  return variables;
}

namespace {

// The words of sbatch(1), --mail-type, in the order in which they are written.
const std::vector<std::string>& mail_types() {
  static const std::vector<std::string> words = {
      "NONE",           "ALL",           "BEGIN",      "END",        "FAIL",
      "INVALID_DEPEND", "REQUEUE",       "STAGE_OUT",  "TIME_LIMIT", "TIME_LIMIT_90",
      "TIME_LIMIT_80",  "TIME_LIMIT_50", "ARRAY_TASKS"};
  return words;
}

void add_word(std::vector<std::string>& words, std::string_view word) {
  if (!contains(words, word)) words.emplace_back(word);
}

// As MODAK's converter has them; qsub(1): a is "aborted by the batch system", f is "non-zero exit code".
std::vector<std::string> words_of_letter(char letter) {
  static const std::map<char, std::vector<std::string>> kWords = {
      {'a', {"FAIL", "INVALID_DEPEND", "TIME_LIMIT"}}, {'b', {"BEGIN"}}, {'e', {"END"}}, {'f', {"FAIL"}}};
  return value_or(kWords, letter, {"NONE"});
}

char letter_of_word(const std::string& word, bool knows_failure) {
  if (word == "BEGIN") return 'b';
  if (word == "END") return 'e';
  if (word == "FAIL") return knows_failure ? 'f' : 'a';
  if (word == "INVALID_DEPEND" || word.starts_with("TIME_LIMIT")) return 'a';
  return 0;
}

}  // namespace

MailEvents read_mail_events(const JsonNode& node) {
  MailEvents events;
  const std::string text = read_option(node);
  if (text.size() <= 5 && text.find_first_not_of("abefn") == text.npos) {
    events.letters = text;
    if (contains(text, 'n') && text != "n")
      node.fail("'n' (no mail) excludes other letters", "write letters such as abe");
    return events;
  }
  for (const std::string_view part : split(text, ',')) {
    const std::string word = upper_case(trimmed(part));
    if (!contains(mail_types(), word)) {
      const std::string near = did_you_mean(word, mail_types());
      node.fail(fmt::format("unknown job event '{}'", trimmed(part)),
                near.empty() ? "letters such as abe, or Slurm's words such as BEGIN,END,FAIL" : near);
    }
    add_word(events.words, word);
  }
  if (events.words.size() > 1 && contains(events.words, "NONE")) node.fail("NONE excludes other events");
  return events;
}

std::string mail_words(const MailEvents& events) {
  std::vector<std::string> asked = events.words;
  for (const char letter : events.letters)
    for (const std::string& word : words_of_letter(letter)) add_word(asked, word);
  std::string text;
  for (const std::string& word : mail_types())
    if (contains(asked, word)) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string mail_letters(const MailEvents& events, bool knows_failure) {
  std::string asked = events.letters;
  for (const std::string& word : events.words) {
    if (word == "ALL") return knows_failure ? "abef" : "abe";
    if (word == "NONE") return "n";
    if (const char letter = letter_of_word(word, knows_failure)) asked += letter;
  }
  if (!knows_failure) std::ranges::replace(asked, 'f', 'a');
  std::string text;
  for (const char letter : std::string_view("abefn"))
    if (contains(asked, letter)) text += letter;
  return text;
}

namespace {

constexpr double kYear = 365.0 * 24 * 3600;

void read_signal(const JsonNode& node, JobCheckpoint& checkpoint) {
  checkpoint.signal = upper_case(node.line_of_text());
  static constexpr std::array kSignals = {"USR2", "USR1", "HUP", "TERM", "INT"};
  if (!contains(kSignals, checkpoint.signal))
    node.fail(fmt::format("unsupported checkpoint signal '{}'", checkpoint.signal),
              "USR2, USR1, HUP, TERM or INT");
}

void read_failure_rate(const JsonNode& node, const JsonNode& rate, JobCheckpoint& checkpoint) {
  // Rarer ones make intervals that fit into no number of seconds.
  constexpr double kLeastFailures = 1e-6, kMostFailures = 1e6;
  checkpoint.failure_rate = rate.number();
  if (!(*checkpoint.failure_rate >= kLeastFailures && *checkpoint.failure_rate <= kMostFailures))
    rate.fail("expected the failures of one node in a year, from 0.000001 to 1000000");
  if (checkpoint.interval.count() > 0)
    rate.fail("'interval' is given as well: the interval is given, or follows from the failures",
              "remove one of them");
  auto write = present(node, "write_time"), size = present(node, "size"),
       bandwidth = present(node, "bandwidth");
  if (write && (size || bandwidth))
    write->fail("'write_time' is the size over the bandwidth: all three are too many");
  if (write) checkpoint.write = read_wall_time(*write);
  if (size) checkpoint.size = read_memory(*size);
  if (bandwidth) checkpoint.bandwidth = read_memory(*bandwidth);
  if (!write && !(size && bandwidth))
    rate.fail("the interval also depends on the time that a checkpoint takes",
              R"(add "write_time": "2m", or "size": "40GB" and "bandwidth": "2GB", which is a second's)");
}

}  // namespace

JobCheckpoint read_checkpoint(const JsonNode& node) {
  JobCheckpoint checkpoint;
  checkpoint.path = read_option(node.at("path"));
  if (auto interval = present(node, "interval")) checkpoint.interval = read_wall_time(*interval);
  if (auto before = present(node, "before")) checkpoint.before = read_wall_time(*before);
  if (auto signal = present(node, "signal")) read_signal(*signal, checkpoint);
  if (auto rate = present(node, "failure_rate")) {
    read_failure_rate(node, *rate, checkpoint);
    return checkpoint;
  }
  for (const char* key : {"write_time", "size", "bandwidth"})
    if (auto value = present(node, key))
      value->fail(fmt::format("'{}' without 'failure_rate', from which the interval follows", key));
  return checkpoint;
}

double mean_time_between_failures(double rate, int nodes) { return kYear / (rate * nodes); }

double write_time(const JobCheckpoint& checkpoint) {
  if (checkpoint.write) return static_cast<double>(checkpoint.write->count());
  return static_cast<double>(checkpoint.size) / static_cast<double>(checkpoint.bandwidth);
}

double young_interval(double write, double between) { return std::sqrt(2 * write * between); }

double daly_interval(double write, double between) {
  if (write >= 2 * between) return between;
  const double share = write / (2 * between);
  return young_interval(write, between) * (1 + std::sqrt(share) / 3 + share / 9) - write;
}

}  // namespace kiln
