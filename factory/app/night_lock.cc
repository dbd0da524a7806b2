#include "factory/app/night_lock.h"

#include <map>
#include <memory>

#include "factory/base/text.h"
#include "factory/state/last_lockfile.h"

namespace kiln {

NightLock::NightLock(NightLockPlace place, const std::function<void(const std::string&)>& warn)
    : place_(std::move(place)) {
  const std::string file = place_.file.string();
  if (const auto text = place_.files.read(place_.file)) {
    checked_out_ = *text;
    previous_ = read_lockfile(JsonDocument::parse(checked_out_, file));
  }
  try {
    if (const auto kept = last_lockfile(place_.files, place_.state, place_.matrix, checked_out_))
      previous_ = read_lockfile(JsonDocument::parse(*kept, file));
  } catch (Error& error) {
    warn(error.while_doing("reading the lockfile of the last night").format("warning"));
  }
}

void NightLock::write(const Lockfile& lock) {
  const std::string text = lockfile_text(lock);
  keep_lockfile(place_.files, place_.state, place_.matrix, checked_out_, text);
  if (text != checked_out_) place_.files.write(place_.file, text);
}

LockScope scope_of_night(bool is_locked, bool has_broken_cells) {
  if (is_locked) return LockScope::pins_only;
  return has_broken_cells ? LockScope::additions : LockScope::whole;
}

AskDigest asking_once(AskDigest ask) {
  return [ask = std::move(ask), silent = std::make_shared<std::map<std::string, Error>>()](
             const std::string& reference, const std::string& architecture) {
    const std::string registry = reference.substr(0, reference.find('/'));
    if (auto found = silent->find(registry); found != silent->end()) throw Error(found->second);
    try {
      return ask(reference, architecture);
    } catch (const Error& error) {
      if (error.code() == ExitCode::network) silent->emplace(registry, error);
      throw;
    }
  };
}

void add_news(const PolicyUpdate& update, LockNews& news) {
  for (const LockChange& change : update.changes) news.changes.push_back(text_of(change));
  for (const HeldChange& change : update.held) news.held.push_back(text_of(change));
  for (LockProblem problem : update.problems)
    news.problems.push_back(
        without_controls(problem.why.while_doing(problem.id + " stays as it is").format("")));
}

void add_news(const UpstreamNews& upstream, LockNews& news) {
  for (const Proposal& proposal : upstream.proposals.shown)
    news.proposals.push_back(text_of(proposal) + (proposal.is_new ? ", new" : ""));
  for (UpstreamProblem problem : upstream.problems)
    news.problems.push_back(
        without_controls(problem.why.while_doing("asking upstream of " + problem.component).format("")));
}

}  // namespace kiln
