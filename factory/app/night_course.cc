#include "factory/app/night_course.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "factory/app/night_metrics.h"
#include "factory/app/night_settling.h"
#include "factory/base/effects.h"
#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/night/budget.h"
#include "factory/night/causes.h"
#include "factory/night/night_files.h"
#include "factory/night/night_gains.h"
#include "factory/night/night_images.h"
#include "factory/night/night_text.h"
#include "factory/state/lock.h"

namespace kiln {
namespace {

constexpr std::size_t kMostNights = 60;  // that a report looks back on

bool waits_or_is_good(const NightImage& image) {
  return is_good(image.verdict) || image.verdict == Verdict::no_machine || image.verdict == Verdict::no_time;
}

class Night {
 public:
  Night(const NightSetup& setup, NightParts& parts)
      : setup_(setup), parts_(parts), folder_(setup.state, setup.matrix, setup.files) {
    report_.matrix = setup.matrix;
    report_.host = host_name();
  }

  NightReport run() {
    begin();
    if (setup_.is_tight) make_room();
    if (setup_.update)
      attempt("moving the lockfile",
              [this] { timed("lockfile", [this] { moved_ = parts_.move_lockfile(report_.lock); }); });
    if (goes_on()) attempt("", [this] { make(); });
    if (setup_.collect && goes_on()) attempt("collecting garbage", [this] { collect(); });
    return finish();
  }

  NightReport refuse(const Error& why) {
    begin();
    fail(why, "");
    return finish();
  }

 private:
  bool goes_on() const { return report_.state != NightState::interrupted; }

  // A part of the night: when it ends with an error the report says so, and the night goes on.
  void attempt(const std::string& doing, const std::function<void()>& work, const std::string& subject = "") {
    try {
      work();
    } catch (...) {
      Error error = unexpected_error();
      if (!doing.empty()) error.while_doing(doing);
      fail(error, subject);
    }
  }

  void fail(const Error& error, const std::string& subject) {
    parts_.say(error.format(""));
    if (error.code() == ExitCode::interrupted) {
      report_.state = NightState::interrupted;
      report_.remarks.push_back(without_controls(error.format("")));
    } else {
      add_trouble(report_, trouble_of(error, subject, setup_.site.file));
    }
  }

  // Adds the time that `work` takes, however it ends, to a phase of the report.
  template <typename Work>
  void timed(const char* phase, const Work& work) {
    struct Watch {
      const Clock& clock;
      double& seconds;
      double start = clock.monotonic_seconds();
      ~Watch() { seconds += clock.monotonic_seconds() - start; }
    };
    const Watch watch{setup_.clock, report_.phases[phase]};
    work();
  }

  void begin() {
    report_.started = setup_.clock.unix_seconds();
    report_.every = setup_.site.night.every.count();
    look_back();
    std::int64_t last = nights_.empty() ? 0 : nights_.back().started;
    if (const auto killed = folder_.begun()) {
      report_.remarks.push_back(
          fmt::format("night {} of {} ended without a report ({} is gone): this one goes on", killed->number,
                      rfc3339(killed->started), killed->by));
      last = std::max(last, killed->started);
    }
    for (std::string& remark : remarks_on_time(report_.started, last, setup_.site.night.every.count()))
      report_.remarks.push_back(std::move(remark));
    if (!nights_.empty()) report_.last_green = nights_.back().last_green;
    report_.number = folder_.begin(report_.started, this_process(setup_.clock)).number;
    write_metrics(write_begin_metrics);
  }

  void look_back() {
    std::vector<std::string> damaged;
    folder_.each_past(
        [this](PastNight past) {
          nights_.push_back(std::move(past));
          return nights_.size() < kMostNights;
        },
        &damaged);
    bool is_newest = true;
    folder_.each_report([this, &is_newest](const NightReport& report) {
      if (is_newest) troubles_before_ = report.troubles;
      is_newest = false;
      if (!report.images.empty()) last_look_ = report;
      return report.images.empty();
    });
    std::ranges::reverse(nights_);
    for (const std::string& one : damaged) report_.remarks.push_back("a report that cannot be read: " + one);
  }

  // Runs before every part that needs room.
  void make_room() {
    report_.remarks.push_back("the disk is full: the night has given up the room that it keeps" +
                              std::string(setup_.collect ? ", and collects garbage first" : ""));
    if (setup_.collect) attempt("collecting garbage", [this] { collect(); });
  }

  void make() {
    const BuildPlan* plan = nullptr;
    std::vector<Error> damaged;
    timed("plan", [&] { plan = &parts_.plan(report_.remarks, damaged); });
    for (const Error& error : damaged) add_trouble(report_, derivation_trouble(error));
    const auto gates = gates_of(*plan);
    if (!gates) return;
    build(*plan);
    report_.gate = look_at_gates(*gates, report_.images);
    if (!goes_on()) return;
    if (!std::ranges::all_of(report_.images, waits_or_is_good)) report_.state = NightState::red;
    if (!is_open(report_.gate)) report_.state = NightState::held;
    if (publish() && setup_.measure && goes_on()) measure();
    attempt("looking at the gains over stock", [this] { look_at_gains(); });
  }

  // nullopt: a gate chooses nothing, which is a mistake of the site file; nothing is built then.
  std::optional<std::vector<GateCells>> gates_of(const BuildPlan& plan) {
    try {
      return find_gates(setup_.site.night.gate, plan);
    } catch (const Error& error) {
      parts_.say(error.format(""));
      NightTrouble trouble = trouble_of(error, "", "");
      trouble.actor = Actor::site;
      trouble.advice = "mend \"gate\" in the site file";
      add_trouble(report_, std::move(trouble));
      return std::nullopt;
    }
  }

  // Makes a damaged or lost index again from its sidecars, and then builds as usual. Proves all of it,
  // because a night that has nothing to publish reads no more of it.
  std::optional<Index> open_index() {
    try {
      auto index = parts_.open_index(Index::Mode::read);
      if (index) index->prove();
      if (index || nights_.empty() || nights_.back().snapshot == 0) return index;
      report_.remarks.push_back("the index of " + setup_.state.root().string() +
                                " was missing: made again from its sidecars");
    } catch (const Error& error) {
      if (error.code() != ExitCode::store) throw;
      report_.remarks.push_back(without_controls(error.message()) + ": made again from its sidecars");
    }
    if (const auto index = parts_.open_index(Index::Mode::write)) index->prove();
    return parts_.open_index(Index::Mode::read);
  }

  void build(const BuildPlan& plan) {
    std::optional<Index> index;
    attempt("", [&] { index = open_index(); });
    NightBuild built;
    attempt("", [&] { timed("build", [&] { parts_.build(moved_, built); }); });
    add_build(built.report);
    report_.images = night_images(
        {plan, setup_.state, setup_.files, index ? &*index : nullptr, last_look_ ? &*last_look_ : nullptr,
         report_.number, report_.started, std::move(built.why), std::move(built.no_time)},
        built.report);
  }

  void add_build(const BuildReport& built) {
    report_.steps_run = built.steps_run;
    report_.steps_fetched = built.steps_fetched;
    if (!built.forged.empty()) add_trouble(report_, forged_trouble(built.forged));
    if (built.interrupted) report_.state = NightState::interrupted;
    if (!built.stopped.empty()) {
      NightTrouble stopped;
      stopped.cause = TroubleCause::tool;
      stopped.what = built.stopped;
      stopped.actor = Actor::site;
      stopped.advice = "find out what killed it; the kernel's log (dmesg) shows whether memory ran out";
      add_trouble(report_, std::move(stopped));
    }
  }

  // An administrator went back to an earlier snapshot.
  void look_whether_held() {
    const auto index = parts_.open_index(Index::Mode::read);
    if (!index || !index->held()) return;
    report_.state = NightState::held;
    report_.remarks.push_back(fmt::format(
        "held at snapshot {} by an administrator, who went back to it: nothing is published until "
        "`kiln index release`",
        index->current()));
  }

  // Looks after what the registry has already, in a night that publishes nothing.
  void follow() {
    if (setup_.registry.empty() || !parts_.open_index(Index::Mode::read)) return;
    parts_.need_lease();
    attempt(
        "looking at the registry", [this] { timed("publish", [this] { take(parts_.follow()); }); },
        setup_.registry);
  }

  // False: there is nothing to publish, or the night is held.
  bool publish() {
    look_whether_held();
    const bool any_good =
        std::ranges::any_of(report_.images, [](const NightImage& image) { return is_good(image.verdict); });
    if (!any_good || report_.state == NightState::held) {
      follow();
      return false;
    }
    parts_.need_lease();
    attempt(
        "publishing", [this] { timed("publish", [this] { take(parts_.publish()); }); }, setup_.registry);
    return true;
  }

  // Publishes again afterwards, because the published images state their gains.
  void measure() {
    parts_.need_lease();
    static const std::vector<NightImage> kNone;
    NightMeasuring done;
    attempt("measuring", [&] {
      timed("measure", [&] { parts_.measure(last_look_ ? last_look_->images : kNone, done); });
    });
    for (const std::string& remark : done.remarks) report_.remarks.push_back(without_controls(remark));
    if (done.sessions == 0 || !goes_on()) return;
    parts_.need_lease();
    attempt(
        "publishing what was measured", [this] { timed("publish", [this] { take(parts_.publish()); }); },
        setup_.registry);
  }

  // An image that fell back makes the night red.
  void look_at_gains() {
    if (const auto index = parts_.open_index(Index::Mode::read))
      set_gains(report_.images, index->measured_entries());
    if (last_look_) compare_gains(report_.images, last_look_->images, report_.number);
    const bool any_fell = std::ranges::any_of(report_.images, has_fallen);
    if (!any_fell) return;
    std::vector<PastNight> nights = nights_;
    nights.push_back(past_of(report_));
    for (NightTrouble& trouble : fallen_troubles(report_.images, find_trends(nights)))
      add_trouble(report_, std::move(trouble));
  }

  void take(const NightPublication& done) {
    report_.is_new_snapshot |= done.is_new_snapshot;
    if (!report_.registry.empty() && !done.pushed.empty()) report_.registry += "; ";
    report_.registry += done.pushed;
    for (std::string& remark : mended_remarks(done.mended)) report_.remarks.push_back(std::move(remark));
    for (NightTrouble& trouble : tag_troubles(done.foreign, {})) add_trouble(report_, std::move(trouble));
    if (!done.lost.empty()) add_trouble(report_, lost_trouble(done.lost, setup_.registry));
    for (NightTrouble& trouble : tag_troubles({}, done.unclear)) add_trouble(report_, std::move(trouble));
  }

  void collect() {
    parts_.need_lease();
    std::optional<Error> in_registry;
    timed("collect", [&] { report_.collected = parts_.collect(in_registry); });
    if (in_registry) throw Error(*in_registry);
  }

  void compare() {
    if (const auto index = parts_.open_index(Index::Mode::read)) report_.snapshot = index->current();
    report_.failures = group_failures(report_.images);
    if (last_look_ && !report_.images.empty()) {
      std::set<std::string_view> cells;
      for (const NightImage& image : report_.images) cells.insert(image.cell);
      for (const NightImage& image : last_look_->images)
        if (!cells.contains(image.cell)) report_.gone.push_back(image.name);
    }
  }

  NightReport finish() {
    attempt("comparing with the nights before", [this] { compare(); });
    for (std::string& warning : parts_.warnings()) report_.warnings.push_back(std::move(warning));
    report_.ended = setup_.clock.unix_seconds();
    settle(report_, troubles_before_);
    nights_.push_back(past_of(report_));
    report_.trends = find_trends(nights_);
    parts_.need_lease();
    write();
    copy_report();
    folder_.keep_only(setup_.site.night.keep);
    keep_reserve(setup_.state.nights_reserve());
    tell();
    return std::move(report_);
  }

  void write() {
    write_metrics(write_night_metrics);
    folder_.write(report_, night_html(report_, nights_), night_junit(report_));
  }

  // An error is a warning: the monitoring system notices that the file is old.
  void write_metrics(void (*writer)(const StatePaths&, const NightReport&, const std::string&, FileSystem&)) {
    try {
      writer(setup_.state, report_, setup_.site.night.metrics, setup_.files);
    } catch (...) {
      warn("writing kiln.prom: " + unexpected_error().format(""));
    }
  }

  void warn(const std::string& what) {
    parts_.say("warning: " + what);
    report_.warnings.push_back(without_controls("warning: " + what));
  }

  // A failed notification becomes a warning, so the report is written once more.
  void tell() {
    try {
      parts_.tell(report_);
    } catch (const Error& error) {
      warn("cannot notify the site of this night: " + error.format(""));
      folder_.write(report_, night_html(report_, nights_), night_junit(report_));
    }
  }

  // The report is on the disk already: the site is notified even if a copy cannot be written.
  void copy_report() {
    if (setup_.report.empty()) return;
    try {
      for (const char* name : {"report.html", "junit.xml", "night.json"})
        setup_.files.write_output(fs::path(setup_.report) / name,
                                  setup_.files.read(folder_.night(report_.number) / name).value_or(""));
    } catch (Error& error) {
      parts_.say(error.while_doing("copying the report to " + setup_.report).format());
      if (report_.exit_code == 0) report_.exit_code = static_cast<int>(error.code());
    }
  }

  const NightSetup& setup_;
  NightParts& parts_;
  NightFolder folder_;
  std::vector<LockChange> moved_;  // in the lockfile, tonight
  std::vector<PastNight> nights_;  // oldest first; in the end this one, too
  std::vector<NightTrouble> troubles_before_;
  std::optional<NightReport> last_look_;  // the last night that looked at its images
  NightReport report_;
};

}  // namespace

NightReport run_night(const NightSetup& setup, NightParts& parts) { return Night(setup, parts).run(); }

NightReport refuse_night(const NightSetup& setup, const Error& why, NightParts& parts) {
  return Night(setup, parts).refuse(why);
}

}  // namespace kiln
