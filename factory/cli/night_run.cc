#include "factory/cli/night_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "factory/base/text.h"
#include "factory/base/unexpected.h"
#include "factory/base/unique_name.h"
#include "factory/cli/collect_state.h"
#include "factory/cli/gc_registry.h"
#include "factory/cli/night_build.h"
#include "factory/cli/night_lock.h"
#include "factory/cli/night_tell.h"
#include "factory/cli/publish_images.h"
#include "factory/cli/publish_to.h"
#include "factory/cli/state_lock.h"
#include "factory/night/causes.h"
#include "factory/night/gate.h"
#include "factory/night/lease.h"
#include "factory/night/night_files.h"
#include "factory/night/night_html.h"
#include "factory/night/night_images.h"
#include "factory/night/night_junit.h"
#include "factory/night/reserve.h"
#include "factory/night/trends.h"
#include "factory/oci/registry_call.h"
#include "factory/state/claim.h"

namespace kiln {
namespace {

constexpr std::size_t kMostNights = 60;  // that a report looks back on
constexpr std::size_t kMostNamed = 20;   // of one kind, in the remarks

class Night {
 public:
  // `is_tight`: the reserve was given up.
  Night(const NightRequest& request, const std::string& matrix, const Lease& lease, bool is_tight,
        Invocation& invocation)
      : request_(request),
        lease_(lease),
        is_tight_(is_tight),
        invocation_(invocation),
        site_(invocation.site()),
        state_(invocation.state()),
        folder_(state_, matrix, invocation.files) {
    report_.matrix = matrix;
    report_.host = host_name();
  }

  NightReport run() {
    begin();
    if (is_tight_) make_room();
    if (request_.update)
      attempt("moving the lockfile",
              [this] { moved_ = update_lock_for_night(request_.matrix, report_.lock, invocation_); });
    if (report_.state != NightState::interrupted) attempt("", [this] { make(); });
    if (request_.collect && report_.state != NightState::interrupted)
      attempt("collecting garbage", [this] { collect(); });
    finish();
    return std::move(report_);
  }

 private:
  void make() {
    const Catalogue catalogue = invocation_.load(request_.matrix);
    const std::vector<GateCells> gates = find_gates(site_.night.gate, catalogue.plan);
    build(catalogue);
    report_.gate = look_at_gates(gates, report_.images);
    look_at_images();
    if (report_.state != NightState::interrupted) publish(catalogue.plan);
  }

  // A step of the night: when it ends with an error the report says so, and the night goes on.
  void attempt(const std::string& doing, const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      Error error = unexpected_error();
      if (!doing.empty()) error.while_doing(doing);
      const std::string text = error.format("");
      invocation_.note(text);
      report_.remarks.push_back(without_controls(text));
      if (report_.exit_code == 0 || error.code() == ExitCode::interrupted)
        report_.exit_code = static_cast<int>(error.code());
      report_.state = error.code() == ExitCode::interrupted ? NightState::interrupted
                      : report_.state == NightState::green  ? NightState::red
                                                            : report_.state;
    }
  }

  // Before all that needs room.
  void make_room() {
    report_.remarks.push_back("the disk is full: the night has given up the room that it keeps" +
                              std::string(request_.collect ? ", and collects garbage first" : ""));
    if (request_.collect) attempt("collecting garbage", [this] { collect(); });
  }

  void begin() {
    report_.started = invocation_.clock.unix_seconds();
    std::vector<std::string> damaged;
    look_back(damaged);
    for (const std::string& one : damaged) report_.remarks.push_back("a report that cannot be read: " + one);
    std::int64_t last = nights_.empty() ? 0 : nights_.back().started;
    if (const auto killed = folder_.begun()) {
      report_.remarks.push_back(
          fmt::format("night {} of {} ended without a report ({} is gone): this one goes on", killed->number,
                      rfc3339(killed->started), killed->by));
      last = std::max(last, killed->started);
    }
    remark_missed_nights(last);
    if (!nights_.empty()) report_.last_green = nights_.back().last_green;
    report_.number = folder_.begin(report_.started, this_process(invocation_.clock)).number;
  }

  void remark_missed_nights(std::int64_t last) {
    const std::int64_t every = site_.night.every.count();
    if (every == 0 || last == 0 || report_.started - last < every + every / 2) return;
    const std::int64_t missed = (report_.started - last + every / 2) / every - 1;
    report_.remarks.push_back(fmt::format("{} did not run: the last one began at {}",
                                          counted(static_cast<std::size_t>(missed), "night"), rfc3339(last)));
  }

  void look_back(std::vector<std::string>& damaged) {
    folder_.each_report(
        [this](const NightReport& report) {
          if (!last_look_ && !report.images.empty()) last_look_ = report;
          nights_.push_back(past_of(report));
          return nights_.size() < kMostNights;
        },
        &damaged);
    std::reverse(nights_.begin(), nights_.end());
  }

  // A damaged one is no reason to build nothing: who opens it to write makes it again from the sidecars.
  std::optional<Index> open_index() {
    if (!invocation_.has_index()) return std::nullopt;
    try {
      return invocation_.index(Index::Mode::read);
    } catch (const Error& error) {
      if (error.code() != ExitCode::store) throw;
      report_.remarks.push_back(without_controls(error.message()) + ": made again from its sidecars");
    }
    invocation_.index(Index::Mode::write);
    return invocation_.index(Index::Mode::read);
  }

  void build(const Catalogue& catalogue) {
    std::optional<Index> index;
    attempt("", [&] { index = open_index(); });
    NightBuild built;
    attempt("", [&] {
      build_for_night(catalogue, {request_.jobs, request_.budget, moved_}, site_, invocation_, built);
    });
    if (!built.report.stopped.empty()) report_.remarks.push_back(built.report.stopped);
    if (built.report.interrupted) report_.state = NightState::interrupted;
    report_.images = night_images({catalogue.plan, state_, invocation_.files, index ? &*index : nullptr,
                                   last_look_ ? &*last_look_ : nullptr, report_.number, report_.started,
                                   std::move(built.why), std::move(built.no_time)},
                                  built.report);
  }

  // How the night stands, now that its images are known.
  void look_at_images() {
    if (report_.state == NightState::interrupted) return;
    const bool all_good =
        std::all_of(report_.images.begin(), report_.images.end(), [](const NightImage& image) {
          return is_good(image.verdict) || image.verdict == Verdict::no_machine ||
                 image.verdict == Verdict::no_time;
        });
    if (!all_good) report_.state = NightState::red;
    if (!is_open(report_.gate)) report_.state = NightState::held;
  }

  // An administrator went back to an earlier snapshot.
  bool is_held_by_hand() {
    if (!invocation_.has_index()) return false;
    const Index index = invocation_.index(Index::Mode::read);
    if (!index.held()) return false;
    report_.state = NightState::held;
    report_.remarks.push_back(fmt::format(
        "held at snapshot {} by an administrator, who went back to it: nothing is published until "
        "`kiln index release`",
        index.current()));
    return true;
  }

  // What lies in the registry already, in a night that publishes nothing.
  void follow() {
    if (request_.place.registry.empty() || !invocation_.has_index()) return;
    lease_.need();
    attempt("looking at the registry",
            [&] { note_registry(follow_index(request_.place, true, invocation_)); });
  }

  // REQUIRES: it is called last, in an attempt.
  void note_registry(const RegistryNews& news) {
    report_.registry = news.pushed;
    const auto remark = [&](const char* what, const std::vector<std::string>& all) {
      for (std::size_t i = 0; i < std::min(all.size(), kMostNamed); ++i)
        report_.remarks.push_back(what + all[i]);
      if (all.size() > kMostNamed)
        report_.remarks.push_back(fmt::format("{}{} more", what, all.size() - kMostNamed));
    };
    remark("the registry had lost a part, which was pushed again: ", news.mended);
    remark("the registry has lost a part: ", news.lost);
    remark("a tag that is left: ", news.left);
    remark("an alias that is left: ", news.unclear);
    refuse_left(news.left);
    refuse_lost(news.lost);
    refuse_unclear(news.unclear);
  }

  void publish(const BuildPlan& plan) {
    const bool any = std::any_of(report_.images.begin(), report_.images.end(),
                                 [](const NightImage& image) { return is_good(image.verdict); });
    const bool is_open = report_.state == NightState::green || report_.state == NightState::red;
    if (is_held_by_hand() || !any || !is_open) return follow();
    lease_.need();
    attempt("publishing", [&] {
      ChosenCells all;
      all.images = all_images(plan);
      all.broken.resize(plan.broken());
      std::iota(all.broken.begin(), all.broken.end(), 0u);
      const PublishRun run{request_.place, false, {}, true};
      const PublishedImages done = publish_images(plan, all, run, invocation_);
      report_.is_new_snapshot = done.snapshot.is_new;
      note_registry(done.registry);
    });
  }

  void collect() {
    lease_.need();
    wait_for_claims(state_, invocation_.files, invocation_.clock);  // of a night that was killed
    const std::string registry = site_.collect_registry ? registry_to_collect("", invocation_) : "";
    const GarbageFound found = collect_garbage({site_.retention, registry}, invocation_);
    const Survey& gone = found.survey;
    std::uint64_t bytes = 0;
    for (const Garbage& one : gone.garbage) bytes += one.bytes;
    if (!gone.garbage.empty())
      report_.collected = fmt::format("{} collected, {:.1f} MB", counted(gone.garbage.size(), "thing"),
                                      static_cast<double>(bytes) / 1e6);
    if (found.in_registry) throw Error(*found.in_registry);
  }

  void compare() {
    if (invocation_.has_index()) report_.snapshot = invocation_.index(Index::Mode::read).current();
    report_.failures = group_failures(report_.images);
    if (last_look_ && !report_.images.empty()) {
      std::set<std::string_view> cells;
      for (const NightImage& image : report_.images) cells.insert(image.cell);
      for (const NightImage& image : last_look_->images)
        if (!cells.contains(image.cell)) report_.gone.push_back(image.name);
    }
    nights_.push_back(past_of(report_));
    report_.trends = find_trends(nights_);
  }

  void finish() {
    attempt("comparing with the nights before", [this] { compare(); });
    report_.ended = invocation_.clock.unix_seconds();
    if (report_.state == NightState::green) report_.last_green = report_.ended;
    if (report_.state == NightState::interrupted)
      report_.exit_code = static_cast<int>(ExitCode::interrupted);
    else if (report_.state != NightState::green && report_.exit_code == 0)
      report_.exit_code = static_cast<int>(ExitCode::images_failed);
    const std::string html = night_html(report_, nights_);
    const std::string junit = night_junit(report_);
    lease_.need();
    folder_.write(report_, html, junit);
    copy_report();
    folder_.keep_only(site_.night.keep);
    keep_reserve(state_.nights_reserve());
    tell_of_night(report_, folder_, site_.night, invocation_);
  }

  // The report is written by now: whoever cannot be given a copy is no reason to tell nobody.
  void copy_report() {
    if (request_.report.empty()) return;
    try {
      for (const char* name : {"report.html", "junit.xml", "night.json"})
        invocation_.files.write_output(
            fs::path(request_.report) / name,
            invocation_.files.read(folder_.night(report_.number) / name).value_or(""));
    } catch (Error& error) {
      invocation_.note(error.while_doing("copying the report to " + request_.report).format());
      if (report_.exit_code == 0) report_.exit_code = static_cast<int>(error.code());
    }
  }

  const NightRequest& request_;
  const Lease& lease_;
  const bool is_tight_;
  Invocation& invocation_;
  const Site site_;
  const StatePaths state_;
  NightFolder folder_;
  std::vector<LockChange> moved_;         // in the lockfile, tonight
  std::vector<PastNight> nights_;         // oldest first; in the end this one, too
  std::optional<NightReport> last_look_;  // the last night that looked at its images
  NightReport report_;
};

}  // namespace

NightReport run_night(const NightRequest& request, Invocation& invocation) {
  const StatePaths state = invocation.state();
  invocation.need_file(request.matrix);
  // Its name is needed before it is planned: a matrix that cannot be planned has a report, too.
  const std::string matrix = read_matrix(invocation.files, request.matrix).name;
  const std::string purpose = "kiln nightly of " + matrix;
  invocation.files.make_directories(state.root());
  const bool is_tight = give_up_reserve(state.nights_reserve());
  const Lease lease = take_lease(state.nights_lease(), "another night", purpose, invocation);
  const WriterLock lock = lock_state(invocation, purpose);
  return Night(request, matrix, lease, is_tight, invocation).run();
}

}  // namespace kiln
