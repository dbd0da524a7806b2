#include "registry/serve/answer_cache.h"

namespace kiln {

void AnswerCache::drop(Place place) {
  bytes_ -= place->bytes();
  places_.erase(place->request);
  kept_.erase(place);
}

std::optional<VerbAnswer> AnswerCache::find(const IndexIdentity& index, const std::string& request) {
  const std::lock_guard held(lock_);
  if (index != index_) return std::nullopt;
  const auto found = places_.find(request);
  if (found == places_.end()) return std::nullopt;
  const Place place = found->second;
  if (std::chrono::steady_clock::now() - place->made > limits_.age) {
    drop(place);
    return std::nullopt;
  }
  kept_.splice(kept_.begin(), kept_, place);
  return place->answer;
}

void AnswerCache::put(const IndexIdentity& index, const std::string& request, const VerbAnswer& answer) {
  const std::lock_guard held(lock_);
  if (index != index_) {
    places_.clear();
    kept_.clear();
    bytes_ = 0;
    index_ = index;
  }
  if (const auto found = places_.find(request); found != places_.end()) drop(found->second);
  Kept kept{request, answer, std::chrono::steady_clock::now()};
  if (kept.bytes() > limits_.bytes / 4) return;  // it would push all others out
  bytes_ += kept.bytes();
  kept_.push_front(std::move(kept));
  places_.emplace(kept_.front().request, kept_.begin());
  while (bytes_ > limits_.bytes) drop(std::prev(kept_.end()));
}

void AnswerCache::clear() {
  const std::lock_guard held(lock_);
  places_.clear();
  kept_.clear();
  bytes_ = 0;
}

std::size_t AnswerCache::bytes() {
  const std::lock_guard held(lock_);
  return bytes_;
}

}  // namespace kiln
