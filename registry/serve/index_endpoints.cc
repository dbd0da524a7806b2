#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/text.h"
#include "registry/answer/answer.h"
#include "registry/index/image_patterns.h"
#include "registry/serve/endpoint.h"
#include "registry/serve/metrics.h"

namespace kiln {

std::map<std::string_view, std::string_view> embedded_openapi();  // generated

namespace {

constexpr std::int64_t kMostImages = 1000;  // of one answer

std::vector<std::string> words_of(const std::string* text) {
  std::vector<std::string> words;
  if (text == nullptr) return words;
  for (std::string_view word : split(*text, ' '))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

std::int64_t number_of(const Index& index, const std::optional<std::int64_t>& snapshot) {
  return snapshot ? *snapshot : index.current();
}

std::vector<IndexEntry> matching(const Index& index, const ImagePatterns& patterns,
                                 const std::optional<std::int64_t>& snapshot) {
  const std::string application = patterns.application();
  auto entries = application.empty() ? index.entries(snapshot) : index.entries_of(application, snapshot);
  std::erase_if(entries, [&](const IndexEntry& entry) { return !patterns.match(entry); });
  return entries;
}

// `entries` from `offset` on, no more than `limit` of them.
void cut_page(std::vector<IndexEntry>& entries, std::int64_t offset, std::int64_t limit) {
  const auto begin = std::min<std::ptrdiff_t>(offset, std::ssize(entries));
  entries.erase(entries.begin(), entries.begin() + begin);
  if (std::ssize(entries) > limit) entries.erase(entries.begin() + limit, entries.end());
}

Json demand_list(std::vector<Demand> all, bool unmet, std::int64_t limit) {
  if (unmet) std::erase_if(all, [](const Demand& one) { return one.outcome == Demand::Outcome::answered; });
  Json list = Json::array();
  for (const Demand& one : all)
    if (std::ssize(list) < limit) list.push_back(to_json(one));
  return list;
}

}  // namespace

EndpointAnswer answer_images(const EndpointCall& call, const EndpointContext& context) {
  const QueryParameters query(call.request);
  const ImagePatterns patterns(words_of(query.find("match")));
  const auto snapshot = query.snapshot();
  const std::int64_t offset = query.number("offset", 0, 0, 1'000'000'000);
  const std::int64_t limit = query.number("limit", 100, 1, kMostImages);
  Json json;
  use_index(context, [&](const Index& index) {
    auto entries = matching(index, patterns, snapshot);
    json = {{"snapshot", number_of(index, snapshot)}, {"total", entries.size()}};
    cut_page(entries, offset, limit);
    json["images"] = entries_json(entries);
  });
  return json_answer(json);
}

EndpointAnswer answer_image(const EndpointCall& call, const EndpointContext& context) {
  const std::string& repository = call.names.at(0);
  const std::string& tag = call.names.at(1);
  const auto snapshot = QueryParameters(call.request).snapshot();
  Json json;
  use_index(context, [&](const Index& index) {
    for (const IndexEntry& entry : index.entries(snapshot))
      if (entry.image.repository == repository && !entry.image.external() &&
          (entry.image.tag == tag || entry.image.immutable_tag == tag))
        json = entry_json(entry);
  });
  if (json.is_null())
    throw Error(ExitCode::no_match, fmt::format("the index has no image '{}:{}'", repository, tag));
  return json_answer(json);
}

EndpointAnswer answer_snapshots(const EndpointCall&, const EndpointContext& context) {
  Json json;
  use_index(context, [&](const Index& index) { json = snapshots_json(index.snapshots()); });
  return json_answer(json);
}

EndpointAnswer answer_demand(const EndpointCall& call, const EndpointContext& context) {
  const QueryParameters query(call.request);
  const bool unmet = query.flag("unmet");
  const std::int64_t limit = query.number("limit", 1000, 1, 1'000'000);
  const std::filesystem::path& state = context.chooser.paths().state;
  context.demand.write(state, call.today);
  return json_answer(demand_list(read_demand(state), unmet, limit));
}

// Whether a question would be answered: an index that cannot be read throws.
EndpointAnswer answer_health(const EndpointCall&, const EndpointContext& context) {
  std::int64_t snapshot = 0;
  context.chooser.with_index([&](const Index& index) { snapshot = index.current(); });
  return json_answer({{"status", "ok"}, {"snapshot", snapshot}});
}

EndpointAnswer answer_openapi(const EndpointCall&, const EndpointContext&) {
  EndpointAnswer answer;
  answer.response.body = std::string(embedded_openapi().at("openapi.json"));
  return answer;
}

// The catalogue's pages, which whoever runs the server knows how to make.

EndpointAnswer answer_page(const EndpointCall& call, const EndpointContext& context) {
  std::optional<ServedPage> page;
  if (context.pages) page = context.pages(joined(call.request.target.segments, "/"));
  if (!page) return {nothing_here(ErrorStyle::own)};
  EndpointAnswer answer;
  answer.response.body = std::move(page->bytes);
  answer.response.type = std::move(page->media_type);
  answer.response.headers = {{"Cache-Control", "no-cache"},
                             {"Referrer-Policy", "no-referrer"},
                             // A page's own policy cannot say who may frame it.
                             {"Content-Security-Policy", "frame-ancestors 'none'"}};
  return answer;
}

}  // namespace kiln
