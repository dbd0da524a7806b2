#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "registry/deploy/job_values.h"

namespace kiln {
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
  if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
}

// As MODAK's converter has them; qsub(1): a is "aborted by the batch system", f is "non-zero exit code".
std::vector<std::string> words_of_letter(char letter) {
  switch (letter) {
    case 'a':
      return {"FAIL", "INVALID_DEPEND", "TIME_LIMIT"};
    case 'b':
      return {"BEGIN"};
    case 'e':
      return {"END"};
    case 'f':
      return {"FAIL"};
    default:
      return {"NONE"};
  }
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
    if (text.find('n') != text.npos && text != "n") node.fail("'n' (no mail) stands alone", "such as abe");
    return events;
  }
  for (const std::string_view part : split(text, ',')) {
    const std::string word = upper_case(trimmed(part));
    if (std::find(mail_types().begin(), mail_types().end(), word) == mail_types().end()) {
      const std::string near = did_you_mean(word, mail_types());
      node.fail(fmt::format("'{}' is no event of a job", trimmed(part)),
                near.empty() ? "letters such as abe, or Slurm's words such as BEGIN,END,FAIL" : near);
    }
    add_word(events.words, word);
  }
  if (events.words.size() > 1 &&
      std::find(events.words.begin(), events.words.end(), "NONE") != events.words.end())
    node.fail("NONE stands alone");
  return events;
}

std::string mail_words(const MailEvents& events) {
  std::vector<std::string> asked = events.words;
  for (const char letter : events.letters)
    for (const std::string& word : words_of_letter(letter)) add_word(asked, word);
  std::string text;
  for (const std::string& word : mail_types())
    if (std::find(asked.begin(), asked.end(), word) != asked.end()) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string mail_letters(const MailEvents& events, bool knows_failure) {
  std::string asked = events.letters;
  for (const std::string& word : events.words) {
    if (word == "ALL") return knows_failure ? "abef" : "abe";
    if (word == "NONE") return "n";
    if (const char letter = letter_of_word(word, knows_failure)) asked += letter;
  }
  if (!knows_failure) std::replace(asked.begin(), asked.end(), 'f', 'a');
  std::string text;
  for (const char letter : std::string_view("abefn"))
    if (asked.find(letter) != asked.npos) text += letter;
  return text;
}

}  // namespace kiln
