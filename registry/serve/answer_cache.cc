#include "registry/serve/answer_cache.h"

#include <mutex>

namespace kiln {

void AnswerCache::drop(Entry entry) {
  bytes_ -= entry->bytes();
  entries_.erase(entry->request);
  kept_.erase(entry);
}

void AnswerCache::drop_all() {
  entries_.clear();
  kept_.clear();
  bytes_ = 0;
}

// Those that were used since the last time are spared once.
void AnswerCache::make_room() {
  while (bytes_ > limits_.bytes) {
    const Entry last = std::prev(kept_.end());
    if (last->used.exchange(false))
      kept_.splice(kept_.begin(), kept_, last);
    else
      drop(last);
  }
}

std::optional<EndpointAnswer> AnswerCache::find(const IndexIdentity& index, const std::string& request) {
  const std::shared_lock held(lock_);
  if (index != index_) return std::nullopt;
  const auto found = entries_.find(request);
  if (found == entries_.end()) return std::nullopt;
  Kept& kept = *found->second;
  if (std::chrono::steady_clock::now() - kept.made > limits_.age) return std::nullopt;
  kept.used.store(true, std::memory_order_relaxed);
  return kept.answer;
}

void AnswerCache::put(const IndexIdentity& index, const std::string& request, const EndpointAnswer& answer) {
  const std::unique_lock alone(lock_);
  if (index != index_) {
    drop_all();
    index_ = index;
  }
  if (const auto found = entries_.find(request); found != entries_.end()) drop(found->second);
  kept_.emplace_front(request, answer, std::chrono::steady_clock::now());
  const Entry entry = kept_.begin();
  entries_.emplace(entry->request, entry);
  bytes_ += entry->bytes();
  if (entry->bytes() > limits_.bytes / 4)
    drop(entry);  // it would push all others out
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
