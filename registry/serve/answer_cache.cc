#include "registry/serve/answer_cache.h"

#include <mutex>

namespace kiln {

void AnswerCache::drop(Place place) {
  bytes_ -= place->bytes();
  places_.erase(place->request);
  kept_.erase(place);
}

void AnswerCache::drop_all() {
  places_.clear();
  kept_.clear();
  bytes_ = 0;
}

// Those that were used since the last time are spared once.
void AnswerCache::make_room() {
  while (bytes_ > limits_.bytes) {
    const Place last = std::prev(kept_.end());
    if (last->used.exchange(false))
      kept_.splice(kept_.begin(), kept_, last);
    else
      drop(last);
  }
}

std::optional<VerbAnswer> AnswerCache::find(const IndexIdentity& index, const std::string& request) {
  const std::shared_lock held(lock_);
  if (index != index_) return std::nullopt;
  const auto found = places_.find(request);
  if (found == places_.end()) return std::nullopt;
  Kept& kept = *found->second;
  if (std::chrono::steady_clock::now() - kept.made > limits_.age) return std::nullopt;
  kept.used.store(true, std::memory_order_relaxed);
  return kept.answer;
}

void AnswerCache::put(const IndexIdentity& index, const std::string& request, const VerbAnswer& answer) {
  const std::unique_lock alone(lock_);
  if (index != index_) {
    drop_all();
    index_ = index;
  }
  if (const auto found = places_.find(request); found != places_.end()) drop(found->second);
  kept_.emplace_front(request, answer, std::chrono::steady_clock::now());
  const Place place = kept_.begin();
  places_.emplace(place->request, place);
  bytes_ += place->bytes();
  if (place->bytes() > limits_.bytes / 4)
    drop(place);  // it would push all others out
  else
    make_room();
}

void AnswerCache::clear() {
  const std::unique_lock alone(lock_);
  drop_all();
}

std::size_t AnswerCache::bytes() {
  const std::shared_lock held(lock_);
  return bytes_;
}

}  // namespace kiln
