// Steps and tests that other builders have run, in place of a run here; and ours for them.
//
// Equal keys mean equal bits, so one builder runs a step for all. kiln accepts foreign bits only if a trusted
// signer has signed them, and if they match the signature. It reports a step that is missing, unsigned,
// damaged or of another signer, and runs it here. No such fault stops a build.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/share/step_share.h"
#include "factory/site/site.h"
#include "factory/state/state.h"

namespace kiln {

struct SharedStepsSetup {
  const StepSharing& place;  // REQUIRES: is_used()
  const PullLimits& limits;
  const StatePaths& state;
  FileSystem& files;
  CommandRunner& runner;  // of helpers for logins
  const Clock& clock;
  std::map<std::string, std::string> environment;
  std::function<void(const std::string&)> tell;  // a line for people
};

class SharedSteps {
 public:
  // Throws Error(input) for an invalid key or address, and Error(tool_missing) without libcurl.
  explicit SharedSteps(const SharedStepsSetup& setup);
  // The same of another place, for tests.
  SharedSteps(const SharedStepsSetup& setup, std::unique_ptr<StepShare> place);

  std::string place() const { return place_->text(); }

  // Of all that is shared; empty if it is not known.
  std::set<std::string> names();

  // The requested step. `title` is for people; `media_type`: of the layers that this site writes, "" for a
  // step whose layers come as they are (a pull), and for a test.
  struct Wanted {
    SharedName name;
    std::string title;
    std::string media_type{};
  };
  struct Fetched {
    std::string from;         // "registry.site:5000/ai/steps, made on nid001"
    std::uint64_t bytes = 0;  // that were fetched
  };
  // Its record is in the state folder, and its layers are in the store. nullopt: it must be run.
  std::optional<Fetched> fetch(const Wanted& wanted);
  // Why fetch() refused a record whose signature names a trusted key and does not match; "" = it did not.
  std::string forged(const SharedName& name) const;
  // Shares a step that was made here, and reports if another builder has made other bits of it. Does nothing
  // if it is there already, or if no other builder would trust it.
  void share(const Wanted& made);

  // Those that were not used for as long as the site keeps them, and how many there are. Throws
  // Error(network), Error(store).
  struct Old {
    std::set<std::string> names;
    std::size_t all = 0;
  };
  Old old() const;
  void remove(const Old& old) { place_->remove(old.names); }

  // No process of this state folder asks an unreachable place again for a while; a new build begins with this
  // call, which ends that pause.
  static void try_again(const StatePaths& state, FileSystem& files);

 private:
  // The shared step, if it is trusted; else the reason, "" if there is no such step.
  struct Look {
    std::optional<OpenedRecord> opened{};
    std::string used{};  // RFC 3339, or ""
    std::string why_not{};
    bool is_forged = false;  // OpenedEnvelope::forged
  };
  template <typename Ask>
  void ask(const fs::path& away, const Ask& question);
  bool is_away(const fs::path& away) const;
  void set_away(const fs::path& away, const std::string& why);
  Look look(const SharedName& name);
  Fetched take_step(const Wanted& wanted, OpenedRecord opened);
  std::uint64_t fetch_layers(const StepRecord& step);
  bool is_proven(const BuiltLayer& layer) const;
  void compare_with_ours(const StepRecord& theirs, const std::string& title);
  void tell_difference(const std::string& title, const std::string& key);
  void write(const SharedName& name, OpenedRecord opened, const std::string& from) const;
  void give(const Wanted& made);
  void touch(const SharedName& name, const std::string& used);
  void refuse(const Wanted& wanted, const std::string& why);

  SharedStepsSetup setup_;
  std::unique_ptr<StepShare> place_;
  std::optional<SigningKey> key_;
  std::vector<VerifyingKey> trusted_;
  std::set<std::string> refused_;               // names of damaged steps there
  std::map<std::string, std::string> forged_;   // names, and why
  std::set<std::string> differ_;                // keys of steps of which that was told
  std::set<std::pair<Digest, Digest>> proven_;  // blobs, and what they hold
};

// Opens it where the site shares steps; null where it does not.
std::unique_ptr<SharedSteps> open_shared_steps(const SharedStepsSetup& setup);

}  // namespace kiln
