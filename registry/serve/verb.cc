#include "registry/serve/verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "factory/base/json_text.h"
#include "registry/serve/site_copy.h"

namespace kiln {
namespace {

Error no_index_yet() { return {ExitCode::locked, "there is no index yet: nothing was published"}; }

}  // namespace

const std::string* QueryParameters::find(std::string_view name) const {
  for (const auto& [key, value] : *query_)
    if (key == name) return &value;
  return nullptr;
}

std::int64_t QueryParameters::number(std::string_view name, std::int64_t otherwise, std::int64_t least,
                                     std::int64_t most) const {
  const std::string* text = find(name);
  if (text == nullptr) return otherwise;
  std::int64_t number = 0;
  const char* end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < least || number > most)
    throw Error(ExitCode::usage, fmt::format("expected a number from {} to {} for '{}'", least, most, name));
  return number;
}

bool QueryParameters::flag(std::string_view name) const {
  const std::string* text = find(name);
  if (text == nullptr) return false;
  if (text->empty() || *text == "1" || *text == "true") return true;
  if (*text == "0" || *text == "false") return false;
  throw Error(ExitCode::usage, fmt::format("expected true or false for '{}'", name));
}

std::string QueryParameters::one_of(std::string_view name, const std::vector<std::string>& words) const {
  const std::string* text = find(name);
  if (text == nullptr) return "";
  if (std::find(words.begin(), words.end(), *text) != words.end()) return *text;
  throw Error(ExitCode::usage, fmt::format("expected {} for '{}'", fmt::join(words, ", "), name));
}

std::optional<std::int64_t> QueryParameters::snapshot() const {
  if (find("snapshot") == nullptr) return std::nullopt;
  return number("snapshot", 0, 1, 1'000'000'000);
}

VerbAnswer json_answer(const Json& json) {
  VerbAnswer answer;
  answer.response.body = printable_json(json) + "\n";
  return answer;
}

ChooserReply choose(const VerbPlace& place, const ChooserQuestion& question) {
  ChooserReply reply = place.chooser.choose(question);
  if (reply.code == ExitCode::store && place.chooser.identity() == IndexIdentity{}) throw no_index_yet();
  return reply;
}

JobAnswer job_of(const VerbPlace& place, const std::string& document, const JobQuestion& question) {
  const ChooserPlaces& places = place.chooser.places();
  const auto& snapshot = question.terms.snapshot;
  const auto site =
      snapshot ? place.site.of_snapshot(place.chooser, *snapshot) : place.site.of_now(place.chooser);
  return answer_job(JsonDocument::parse(document, "document"), question, *site, place.chooser.cpus(),
                    {places.state, places.sif_folder}, [&](ChooserQuestion asked) {
                      asked.document = document;
                      return choose(place, asked);
                    });
}

void use_index(const VerbPlace& place, const std::function<void(const Index& index)>& use) {
  if (place.chooser.with_index(use)) return;
  throw no_index_yet();
}

}  // namespace kiln
