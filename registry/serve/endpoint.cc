#include "registry/serve/endpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "factory/base/json_text.h"
#include "factory/base/text.h"

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
  if (contains(words, *text)) return *text;
  throw Error(ExitCode::usage, fmt::format("expected {} for '{}'", fmt::join(words, ", "), name));
}

std::optional<std::int64_t> QueryParameters::snapshot() const {
  if (find("snapshot") == nullptr) return std::nullopt;
  return number("snapshot", 0, 1, 1'000'000'000);
}

EndpointAnswer json_answer(const Json& json) {
  EndpointAnswer answer;
  answer.response.body = printable_json(json) + "\n";
  return answer;
}

ChooserReply choose(const EndpointContext& context, const ChooserQuestion& question) {
  ChooserReply reply = context.chooser.choose(question);
  if (reply.code == ExitCode::store && context.chooser.identity() == IndexIdentity{}) throw no_index_yet();
  return reply;
}

JobAnswer job_of(const EndpointContext& context, const std::string& document, const JobQuestion& question) {
  const ChooserPaths& paths = context.chooser.paths();
  const auto& snapshot = question.terms.snapshot;
  const auto site =
      snapshot ? context.site.of_snapshot(context.chooser, *snapshot) : context.site.of_now(context.chooser);
  return answer_job(JsonDocument::parse(document, "document"), question, *site, context.chooser.cpus(),
                    {paths.state, paths.sif_folder}, [&](ChooserQuestion asked) {
                      asked.document = document;
                      return choose(context, asked);
                    });
}

void use_index(const EndpointContext& context, const std::function<void(const Index& index)>& use) {
  if (context.chooser.with_index(use)) return;
  throw no_index_yet();
}

namespace {

std::shared_ptr<const DeploySite> site_with(std::vector<SiteDocument> documents, ImageChooser& chooser,
                                            std::optional<std::int64_t> snapshot) {
  chooser.with_index([&](const Index& index) {
    for (SiteDocument& document : index.site_documents(snapshot)) documents.push_back(std::move(document));
  });
  return std::make_shared<const DeploySite>(std::move(documents));
}

}  // namespace

SiteCopy::SiteCopy(std::vector<SiteDocument> files)
    : files_(std::move(files)), site_(std::make_shared<const DeploySite>(files_)) {}

std::shared_ptr<const DeploySite> SiteCopy::of_now(ImageChooser& chooser) {
  // Before the documents are read: those of a newer index are then read again, and not the other way round.
  const IndexIdentity now = chooser.identity();
  {
    const std::lock_guard held(lock_);
    if (index_ == now) return site_;
  }
  auto site = site_with(files_, chooser, std::nullopt);
  const std::lock_guard held(lock_);
  index_ = now;
  site_ = site;
  return site;
}

std::shared_ptr<const DeploySite> SiteCopy::of_snapshot(ImageChooser& chooser, std::int64_t snapshot) const {
  return site_with(files_, chooser, snapshot);
}

}  // namespace kiln
