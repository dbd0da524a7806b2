#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "factory/app/collection.h"
#include "factory/app/heard_warnings.h"
#include "factory/app/night_lock.h"
#include "factory/app/night_settling.h"
#include "factory/base/secret_mask.h"
#include "factory/base/text.h"
#include "factory/cli/collection.h"
#include "factory/cli/lock_use.h"
#include "factory/cli/night_work.h"
#include "factory/cli/publication.h"
#include "factory/cli/state_lock.h"
#include "factory/cli/upstream.h"
#include "factory/collect/collect.h"
#include "factory/distribution/http.h"
#include "factory/night/budget.h"
#include "factory/night/lease.h"
#include "factory/run/failure.h"
#include "factory/run/publish.h"
#include "factory/state/lock.h"

namespace kiln {
namespace {

constexpr std::chrono::seconds kPatience{60};

std::string webhook_url(const SecretSource& place, const Invocation& invocation) {
  std::string url = place.variable.empty() ? invocation.files.read(place.file, 8192).value_or("")
                                           : value_or(invocation.environment, place.variable);
  url = trimmed(url);
  if (url.empty())
    throw Error(ExitCode::input, fmt::format("{} has no URL for the webhook",
                                             place.variable.empty() ? place.file : "$" + place.variable));
  return url;
}

// The URL is what lets us in: it stands in no message.
void post(const Json& notice, const std::string& url, Invocation& invocation) {
  HttpRequest request{"POST", url};
  request.headers = {{"Content-Type", "application/json"}};
  request.body = notice.dump(-1, ' ', false, Json::error_handler_t::replace);
  HttpAnswer answer;
  try {
    answer = open_http({invocation.environment, kPatience})->send(request);
  } catch (const HttpFailure& failure) {
    SecretMask hidden({url});
    const std::string what = hidden.masked(failure.message());
    throw Error(ExitCode::network, "the webhook: " + what + hidden.finish());
  }
  if (answer.status < 200 || answer.status > 299)
    throw Error(ExitCode::network, fmt::format("the webhook answered {}", answer.status));
}

void run_command(const fs::path& notice, const std::vector<std::string>& words, Invocation& invocation) {
  Command command;
  // The runner gives programs no input of their own.
  command.argv = {"sh", "-c", "exec \"$@\" <\"$0\"", fs::absolute(notice).string()};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.environment = invocation.environment;
  command.limits.wall = kPatience;
  const CommandResult result = invocation.runner.run(command);
  if (!result.ok())
    throw Error(ExitCode::images_failed,
                fmt::format("'{}': {}: {}", words.front(), describe_end(result, command.limits),
                            last_lines(result.tail, 1)));
}

// The parts of a night as the options of this run have them.
class NightProgram : public NightParts {
 public:
  NightProgram(const NightRequest& request, const std::string& matrix, const Lease& lease,
               Invocation& invocation)
      : request_(request),
        lease_(lease),
        invocation_(invocation),
        site_(invocation.site()),
        state_(invocation.state()),
        folder_(state_, matrix, invocation.files) {
    invocation_.heard = [this](const std::string& line) { warnings_.hear(line); };
  }
  NightProgram(const NightProgram&) = delete;
  NightProgram& operator=(const NightProgram&) = delete;
  ~NightProgram() override { invocation_.heard = nullptr; }

  // Without a lockfile nothing is pinned, and upstream alone is asked.
  std::vector<LockChange> move_lockfile(LockNews& news) override {
    const std::optional<Lockfile> checked_out = find_lockfile(request_.matrix, invocation_);
    std::optional<NightLock> lock;
    if (checked_out)
      lock.emplace(NightLockPlace{checked_out->file, fs::path(request_.matrix).stem().string(), state_,
                                  invocation_.files},
                   [this](const std::string& line) { invocation_.note(line); });
    const Catalogue catalogue = invocation_.plan(request_.matrix, lock ? &*lock->previous() : nullptr);
    PolicyUpdate update;
    if (lock) {
      update = update_by_site_policy(catalogue, lock->previous(), invocation_);
      add_news(update, news);
      lock->write(update.lock);
    }
    if (const int most = site_.update.proposals; most > 0) {
      const UpstreamNews upstream = ask_upstream(catalogue, most, invocation_);
      add_news(upstream, news);
      remember_proposals(upstream.proposals.memory, invocation_);
    }
    return std::move(update.changes);
  }

  const BuildPlan& plan(std::vector<std::string>& remarks, std::vector<Error>& damaged) override {
    catalogue_.emplace(invocation_.load(request_.matrix));
    damaged = invocation_.damaged_derivations;
    const auto needs = lock_needs(catalogue_->plan.resolution(), catalogue_->recipes);
    const bool is_locked = find_lockfile(request_.matrix, invocation_).has_value();
    if (auto remark = floating_remark(is_locked ? LockNeeds() : needs, request_.matrix); !remark.empty())
      remarks.push_back(std::move(remark));
    return catalogue_->plan;
  }

  void build(const std::vector<LockChange>& moved, NightBuild& night) override {
    build_for_night(*catalogue_, {request_.jobs, request_.budget, moved}, site_, invocation_, night);
    is_all_up_to_date_ = night.report.images.size() == catalogue_->plan.size() &&
                         night.report.count(Outcome::up_to_date) == night.report.images.size();
  }

  NightPublication publish() override {
    const BuildPlan& plan = catalogue_->plan;
    const PublicationMark mark(plan, state_, invocation_.files, invocation_.clock);
    const bool is_local = request_.place.registry.empty();
    if (is_local && is_all_up_to_date_ && mark.is_valid()) return {};
    ChosenCells all;
    all.images = all_images(plan);
    all.broken.resize(plan.broken());
    std::iota(all.broken.begin(), all.broken.end(), 0u);
    const PublishedImages done = publish_images(plan, all, {request_.place, false, {}, true}, invocation_);
    if (is_local && is_all_up_to_date_) mark.keep();
    return {done.registry, done.snapshot.is_new};
  }

  NightPublication follow() override { return {follow_index(request_.place, true, invocation_), false}; }

  void measure(const std::vector<NightImage>& before, NightMeasuring& done) override {
    measure_for_night(*catalogue_, *request_.measure, before, site_, invocation_, done);
  }

  std::string collect(std::optional<Error>& in_registry) override {
    wait_for_claims(state_, invocation_.files, invocation_.clock);  // of a night that was killed
    const std::string registry = site_.collect_registry ? registry_to_collect("", invocation_) : "";
    if (!collects_tonight(is_tight_, !registry.empty(), is_due())) return "";
    const GarbageFound found = collect_garbage({site_.retention, registry}, invocation_);
    in_registry = found.in_registry;
    const std::string hint = registry.empty() ? registry_hint(found.survey.roots, invocation_) : "";
    for (const std::string& note : found.survey.notes)
      if (note != hint) warnings_.hear("warning: collecting garbage: " + note);
    return collected_text(found.survey.garbage);
  }

  std::optional<Index> open_index(Index::Mode mode) override {
    if (mode == Index::Mode::read && !invocation_.has_index()) return std::nullopt;
    return invocation_.index(mode);
  }

  void need_lease() override { lease_.need(); }
  void say(const std::string& line) override { invocation_.note(line); }
  void tell(const NightReport& report) override { notify_site(report, folder_, site_.night, invocation_); }
  std::vector<std::string> warnings() override { return warnings_.all(); }

  NightSetup setup(const std::string& matrix, bool is_tight) {
    is_tight_ = is_tight;
    return {matrix,
            site_,
            state_,
            invocation_.files,
            invocation_.clock,
            request_.place.registry,
            request_.report,
            request_.update,
            request_.collect,
            is_tight,
            request_.measure.has_value()};
  }

 private:
  // Looking at all of a state folder costs more than all else that a night without work does.
  bool is_due() const {
    return is_collection_due(read_stamp(state_.collected(), invocation_.files),
                             state_stamp(state_, site_.retention), site_.retention,
                             invocation_.clock.unix_seconds());
  }

  const NightRequest& request_;
  const Lease& lease_;
  Invocation& invocation_;
  const Site site_;
  const StatePaths state_;
  NightFolder folder_;
  HeardWarnings warnings_;
  std::optional<Catalogue> catalogue_;
  bool is_tight_ = false;           // the disk is full
  bool is_all_up_to_date_ = false;  // all images of the plan were built before this night
};

}  // namespace

void notify_site(const NightReport& report, NightFolder& folder, const NightSettings& settings,
                 Invocation& invocation) {
  if (!settings.webhook && settings.command.empty()) return;
  const SentNotice before = folder.told();
  const News news = news_in(report, before, settings.remind.count());
  if (news == News::none) return;
  const fs::path page = fs::absolute(folder.night(report.number) / "report.html");
  const Json notice = notice_json(report, before, page.string(), news);
  const fs::path file = folder.night(report.number) / "notice.json";
  invocation.files.write(file, notice.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  if (settings.webhook) post(notice, webhook_url(*settings.webhook, invocation), invocation);
  if (!settings.command.empty()) run_command(file, settings.command, invocation);
  folder.write(notice_of(report));
}

NightReport run_nightly(const NightRequest& request, Invocation& invocation) {
  const StatePaths state = invocation.state();
  invocation.need_file(request.matrix);
  // Its name is needed before it is planned: a matrix that cannot be planned has a report, too.
  const std::string matrix = read_matrix(invocation.files, request.matrix).name;
  const std::string purpose = "kiln nightly of " + matrix;
  if (request.measure)
    for (const SuiteWorkload& workload : request.measure->suite.workloads)
      invocation.workloads.push_back(workload.name);
  invocation.files.make_directories(state.root());
  const bool is_tight = give_up_reserve(state.nights_reserve());
  const Lease lease = take_lease(state.nights_lease(), "another night", purpose, invocation);
  NightProgram program(request, matrix, lease, invocation);
  const NightSetup setup = program.setup(matrix, is_tight);
  std::optional<WriterLock> lock;
  try {
    lock.emplace(lock_state(invocation, purpose));
  } catch (const Error& error) {
    if (error.code() != ExitCode::locked) throw;
    return refuse_night(setup, error, program);
  }
  return run_night(setup, program);
}

}  // namespace kiln
