// Answers that were given already: most clients ask what others asked a moment ago.
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "registry/answer/chooser.h"
#include "registry/serve/endpoint.h"

namespace kiln {

// Bounded in bytes and in time. All of it is of one state of the index: the next state finds it empty.
class AnswerCache {
 public:
  struct Limits {
    std::size_t bytes = 32u << 20;
    // Other inputs of an answer (blobs, targets, the folder of SIFs) are checked again after this time.
    std::chrono::milliseconds age{5000};
  };
  explicit AnswerCache(Limits limits) : limits_(limits) {}

  std::optional<EndpointAnswer> find(const IndexIdentity& index, const std::string& request);
  void put(const IndexIdentity& index, const std::string& request, const EndpointAnswer& answer);
  void clear();
  std::size_t bytes();

 private:
  struct Kept {
    Kept(const std::string& asked, const EndpointAnswer& given, std::chrono::steady_clock::time_point now)
        : request(asked), answer(given), made(now) {}
    std::string request;
    EndpointAnswer answer;
    std::chrono::steady_clock::time_point made;
    std::atomic<bool> used{false};  // since room was last made
    std::size_t bytes() const { return request.size() + answer.response.body.size() + 512; }
  };
  using Entry = std::list<Kept>::iterator;
  void drop(Entry entry);
  void drop_all();
  void make_room();

  const Limits limits_;
  std::shared_mutex lock_;  // many find at once
  IndexIdentity index_;
  std::list<Kept> kept_;  // the last one that came, or that was spared, comes first
  std::unordered_map<std::string_view, Entry> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace kiln
