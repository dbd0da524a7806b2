#include "factory/base/text.h"
#include "factory/cli/lock_sources.h"
#include "factory/cli/lock_use.h"
#include "factory/cli/night_work.h"
#include "factory/cli/upstream.h"

namespace kiln {
namespace {

std::vector<LockChange> move_lockfile(const Catalogue& catalogue, NightLockfile& lock, LockNews& news,
                                      Invocation& invocation) {
  PolicyUpdate update = update_for_night(catalogue, lock.previous(), invocation.site().update,
                                         invocation.clock.unix_seconds(), invocation);
  for (const LockChange& change : update.changes) news.changes.push_back(text_of(change));
  for (const HeldChange& change : update.held) news.held.push_back(text_of(change));
  for (LockProblem& problem : update.problems)
    news.problems.push_back(
        without_controls(problem.why.while_doing(problem.id + " stays as it is").format("")));
  lock.write(update.lock);
  return std::move(update.changes);
}

void look_upstream(const Catalogue& catalogue, LockNews& news, Invocation& invocation) {
  const UpdatePolicy policy = invocation.site().update;
  if (policy.proposals == 0) return;
  UpstreamNews found = ask_upstream(catalogue, policy, invocation.clock.unix_seconds(), invocation);
  for (const Proposal& proposal : found.proposals.shown)
    news.proposals.push_back(text_of(proposal) + (proposal.is_new ? ", new" : ""));
  for (UpstreamProblem& problem : found.problems)
    news.problems.push_back(
        without_controls(problem.why.while_doing("asking upstream of " + problem.component).format("")));
  remember_proposals(found.proposals.memory, invocation);
}

}  // namespace

std::vector<LockChange> update_lock_for_night(const std::string& matrix, LockNews& news,
                                              Invocation& invocation) {
  const std::optional<Lockfile> checked_out = find_lockfile(matrix, invocation);
  std::optional<NightLockfile> lock;
  if (checked_out) lock.emplace(checked_out->file, fs::path(matrix).stem().string(), invocation);
  const Catalogue catalogue = invocation.plan(matrix, lock ? &*lock->previous() : nullptr);
  std::vector<LockChange> moved;
  if (lock) moved = move_lockfile(catalogue, *lock, news, invocation);
  look_upstream(catalogue, news, invocation);
  return moved;
}

}  // namespace kiln
