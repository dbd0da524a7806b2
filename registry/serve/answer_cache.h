// Answers that were given already: most clients ask what others asked a moment ago.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "registry/answer/chooser.h"
#include "registry/serve/verb.h"

namespace kiln {

// Bounded in bytes and in time. All of it is of one state of the index: the next state finds it empty.
class AnswerCache {
 public:
  struct Limits {
    std::size_t bytes = 32u << 20;
    // What an answer also depends on (blobs, targets, the folder of SIFs) is looked at again after this.
    std::chrono::milliseconds age{5000};
  };
  explicit AnswerCache(Limits limits) : limits_(limits) {}

  std::optional<VerbAnswer> find(const IndexIdentity& index, const std::string& request);
  void put(const IndexIdentity& index, const std::string& request, const VerbAnswer& answer);
  void clear();
  std::size_t bytes();

 private:
  struct Kept {
    std::string request;
    VerbAnswer answer;
    std::chrono::steady_clock::time_point made;
    std::size_t bytes() const { return request.size() + answer.response.body.size() + 512; }
  };
  using Place = std::list<Kept>::iterator;
  void drop(Place place);

  const Limits limits_;
  std::mutex lock_;
  IndexIdentity index_;
  std::list<Kept> kept_;  // used last comes first
  std::unordered_map<std::string_view, Place> places_;
  std::size_t bytes_ = 0;
};

}  // namespace kiln
