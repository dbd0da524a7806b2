// The server without its sockets: a request in, a response out. Common to all endpoints: permission to write,
// the cache of answers, the form of errors, and the counters.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "factory/base/effects.h"
#include "registry/serve/answer_cache.h"
#include "registry/serve/endpoint.h"
#include "registry/serve/metrics.h"
#include "registry/serve/tokens.h"

namespace kiln {

// Settings that a site may change while the server runs.
struct ServeSettings {
  ChooserPaths paths;
  TokenBook tokens{};                // none: no client writes
  std::vector<SiteDocument> site{};  // of the site's files
};

class Service {
 public:
  // The objects of `write` and `pages`, and `clock`, outlive it. Throws as ImageChooser does.
  Service(ServeSettings settings, MappingWriter write, const Clock& clock, PageMaker pages = {});

  // Called by several threads at once; throws nothing.
  HttpResponse answer(const ReceivedRequest& request);
  // From the next request on; those that are being answered end with the old ones first. Throws as the
  // constructor, and then the old settings stay.
  void change(ServeSettings settings);
  void write_demand();
  // Sets the function that writes documents of a site that clients post.
  void write_site_with(SiteWriter write) { write_site_ = std::move(write); }
  // Sets the source of the sockets' metrics.
  void watch(std::function<HttpCounts()> counts) { counts_ = std::move(counts); }
  // Adds metrics to the server's own in /metrics, in the same format. `more` is called by several threads at
  // once, and must not throw.
  void add_metrics(std::function<std::string()> more) { more_metrics_ = std::move(more); }

 private:
  struct Held {  // the objects made from settings
    explicit Held(ServeSettings settings)
        : chooser(std::move(settings.paths)),
          tokens(std::move(settings.tokens)),
          site(std::move(settings.site)) {}
    ImageChooser chooser;
    TokenBook tokens;
    SiteCopy site;
  };
  struct Tag {  // of the index that an answer is from
    IndexIdentity index;
    std::int64_t snapshot = 0;
    std::string text{};  // as ETag has it
  };
  std::shared_lock<std::shared_mutex> together();
  HttpResponse routed(const ReceivedRequest& request, const RouteMatch& match);
  HttpResponse from_endpoint(const ReceivedRequest& request, const RouteMatch& match);
  HttpResponse from_index(const ReceivedRequest& request, const RouteMatch& match);
  EndpointAnswer kept_or_made(const ReceivedRequest& request, const RouteMatch& match, const Tag& tag);
  EndpointAnswer made_alone(const ReceivedRequest& request, const RouteMatch& match, const Tag& tag,
                            const std::string& key);
  EndpointAnswer made(const ReceivedRequest& request, const RouteMatch& match);
  HttpResponse metrics_response();
  std::optional<HttpResponse> refuse_writer(const ReceivedRequest& request);
  Tag current_tag();
  std::string today() const;

  MappingWriter write_;
  SiteWriter write_site_;
  PageMaker pages_;
  const Clock& clock_;
  std::atomic<bool> change_waits_{false};  // for changing_: a question lets it go first
  std::mutex turn_;                        // of changes
  std::shared_mutex changing_;             // of held_
  std::unique_ptr<Held> held_;
  AnswerCache cache_{AnswerCache::Limits{}};
  DemandBatch demand_;
  ServeMetrics metrics_;
  WrongTokens wrong_tokens_;
  std::function<HttpCounts()> counts_;
  std::function<std::string()> more_metrics_;
  std::timed_mutex whole_;      // of routes that read all of a snapshot
  std::shared_mutex tag_lock_;  // of these two
  Tag tag_;                     // the last one
  double glanced_ = -1;         // when the index's file was looked at for it, in monotonic seconds
};

}  // namespace kiln
