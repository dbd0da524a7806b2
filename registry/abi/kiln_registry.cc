// The C interface: no exception leaves it, and each text that does is the caller's to free.
#include "registry/abi/kiln_registry.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "factory/base/error.h"
#include "factory/base/json_text.h"
#include "registry/answer/answer.h"
#include "registry/answer/chooser.h"
#include "registry/deploy/job_answer.h"

struct kiln_registry {
  kiln::ImageChooser chooser;
};

namespace kiln {
namespace fs = std::filesystem;
namespace {

// Of malloc, so that a library with another C++ runtime may come later. nullptr for nullptr: nobody wants it.
void give(const std::string& text, char** place) {
  if (place == nullptr) return;
  *place = static_cast<char*>(std::malloc(text.size() + 1));
  if (*place == nullptr) throw std::bad_alloc();
  std::memcpy(*place, text.c_str(), text.size() + 1);
}

// Without memory for the words there are none.
int fail(const Error& why, char** error) noexcept {
  try {
    give(why.format(), error);
  } catch (...) {
  }
  return static_cast<int>(why.code());
}

// Runs `body`, and turns what it throws into a status and words.
template <typename Body>
int guarded(char** error, const Body& body) noexcept {
  try {
    if (error != nullptr) *error = nullptr;
    return body();
  } catch (const std::exception& exception) {
    try {
      return fail(unexpected_error(exception), error);
    } catch (...) {
    }
  } catch (...) {
  }
  return KILN_INTERNAL;
}

void need(bool holds, const char* what) {
  if (!holds) throw Error(ExitCode::usage, what);
}

std::string word(const char* text) { return text == nullptr ? "" : text; }

// What a caller knows of a structure: one that was compiled against an older header gives a shorter one.
template <typename Options>
Options whole(const Options* given) {
  Options options{};
  if (given == nullptr) return options;
  need(given->size >= sizeof(std::size_t), "the size of the options is not set");
  // What it has beyond what we know must be as if it were not there.
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(Options); i < given->size; ++i)
    need(bytes[i] == 0, "an option is asked for that this version of the library does not have");
  std::memcpy(&options, given, std::min(given->size, sizeof(Options)));
  return options;
}

// `share/kiln` of the prefix that the library lies in (`lib`, `lib64`, `lib/x86_64-linux-gnu`): the tables,
// recipes and targets that it was installed with. Throws Error(tool_missing) when there is none.
fs::path installed_share() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&kiln_registry_abi), &found) == 0 || found.dli_fname == nullptr)
    throw Error(ExitCode::tool_missing, "the loader does not say where libkiln_registry is");
  std::error_code problem;
  const fs::path library = fs::canonical(found.dli_fname, problem);
  fs::path folder = library.parent_path();
  for (int up = 0; up < 3 && folder.has_relative_path(); ++up) {
    folder = folder.parent_path();
    if (fs::path share = folder / "share" / "kiln"; fs::exists(share / "archspec", problem)) return share;
  }
  throw Error(ExitCode::tool_missing,
              "no share/kiln with archspec's tables above " + library.parent_path().string(),
              "name that folder in the options of kiln_registry_open()");
}

ChooserPaths paths_of(const char* state, const kiln_open_options& options) {
  ChooserPaths paths;
  paths.state = fs::absolute(state).lexically_normal();
  const fs::path share = options.share == nullptr ? installed_share() : fs::path(options.share);
  const char* archspec = std::getenv("KILN_ARCHSPEC");
  paths.archspec = archspec != nullptr ? fs::path(archspec) : share / "archspec" / "microarchitectures.json";
  paths.recipes = {share / "recipes"};
  paths.targets = options.targets == nullptr ? share / "matrix" / "targets" : fs::path(options.targets);
  paths.sif_folder = word(std::getenv("SINGULARITY_DIR"));
  return paths;
}

QuestionTerms terms_of(std::uint32_t flags, std::int64_t snapshot) {
  constexpr std::uint32_t kKnown = KILN_ALLOW_FAILING | KILN_LENIENT;
  need((flags & ~kKnown) == 0, "a flag is asked for that this version of the library does not have");
  need(snapshot >= 0, "the number of a snapshot is negative");
  QuestionTerms terms;
  if (snapshot > 0) terms.snapshot = snapshot;
  terms.allow_failing = (flags & KILN_ALLOW_FAILING) != 0;
  terms.lenient = (flags & KILN_LENIENT) != 0;
  return terms;
}

ChooserQuestion question_of(const char* dsl, std::size_t length, const kiln_select_options& options) {
  ChooserQuestion question;
  question.document = {dsl, length};
  question.host = word(options.host);
  question.terms = terms_of(options.flags, options.snapshot);
  question.terms.format = word(options.format);
  need(question.terms.format.empty() || is_reference_format(question.terms.format),
       "unknown format: expected tag, digest, oci or sif");
  if (options.limit > 0) question.limit = options.limit;
  return question;
}

// As `kiln select` counts: where the state folder cannot be written, it is not.
void count(const std::optional<Demand>& asked, const std::filesystem::path& state) {
  if (!asked) return;
  Demand demand = *asked;
  demand.last = rfc3339(RealClock().unix_seconds()).substr(0, 10);
  record_demand(state, demand);
}

// Asks, counts, and gives what `text_of` makes of the reply.
template <typename TextOf>
int asked(kiln_registry* registry, const char* dsl, std::size_t length, const kiln_select_options* options,
          bool explained, char** answer, char** error, const TextOf& text_of) noexcept {
  return guarded(error, [&] {
    if (answer != nullptr) *answer = nullptr;
    need(registry != nullptr && dsl != nullptr, "the registry or the document is a null pointer");
    ChooserQuestion question = question_of(dsl, length, whole(options));
    question.explained = explained;
    const ChooserReply reply = registry->chooser.choose(question);
    count(reply.demand, registry->chooser.paths().state);
    if (const std::string text = text_of(reply); !text.empty()) give(text, answer);
    return reply.error ? fail(*reply.error, error) : static_cast<int>(KILN_DONE);
  });
}

template <typename Names>
auto name_in(const Names& names, const char* text, const char* what) {
  const auto found = names.find(word(text));
  need(found || word(text).empty(), what);
  return found;
}

JobQuestion job_question(const kiln_job_options& options) {
  JobQuestion question;
  question.terms = terms_of(options.flags, options.snapshot);
  question.host = word(options.host);
  question.unsaid = UnsaidHost::here;
  question.infrastructure = word(options.infrastructure);
  question.deploy.scheduler =
      name_in(kSchedulers, options.scheduler, "unknown scheduler: expected slurm, torque, openpbs or bash");
  question.deploy.runtime =
      name_in(kContainerRuntimes, options.runtime, "there is no such container runtime");
  return question;
}

// Of the index, and before it an infrastructure that the caller describes, whose name `question` then has.
DeploySite site_of(JobQuestion& question, ImageChooser& chooser) {
  std::vector<SiteDocument> documents;
  if (question.infrastructure.starts_with('{')) {
    const JsonDocument json = JsonDocument::parse(question.infrastructure, "infrastructure");
    documents.push_back(read_site_document(SiteKind::infrastructure, json.root(), "infrastructure"));
    question.infrastructure = documents.front().name;
  }
  chooser.with_index([&](const Index& index) {
    for (SiteDocument& one : index.site_documents(question.terms.snapshot)) documents.push_back(one);
  });
  return DeploySite(std::move(documents));
}

JobAnswer job_of(const JsonDocument& document, std::string_view text, JobQuestion question,
                 ImageChooser& chooser) {
  const DeploySite site = site_of(question, chooser);
  const ChooserPaths& paths = chooser.paths();
  return answer_job(document, question, site, chooser.cpus(), {paths.state, paths.sif_folder},
                    [&](ChooserQuestion asked) {
                      asked.document = text;
                      return chooser.choose(asked);
                    });
}

std::string lines_of(const Json& json) { return printable_json(json, 2) + "\n"; }

// What an index gives; where there is none, its error.
template <typename Use>
int with_index(kiln_registry* registry, char** error, const Use& use) noexcept {
  return guarded(error, [&] {
    need(registry != nullptr, "the registry is a null pointer");
    if (!registry->chooser.with_index(use))
      Index::open(registry->chooser.paths().state, Index::Mode::read);  // says why there is none
    return static_cast<int>(KILN_DONE);
  });
}

}  // namespace
}  // namespace kiln

unsigned kiln_registry_abi(void) { return KILN_REGISTRY_ABI; }

const char* kiln_registry_version(void) { return KILN_VERSION; }

int kiln_registry_open(const char* state, const struct kiln_open_options* options, kiln_registry** registry,
                       char** error) {
  return kiln::guarded(error, [&] {
    kiln::need(state != nullptr && registry != nullptr, "the state folder or the place is a null pointer");
    *registry = nullptr;
    *registry = new kiln_registry{kiln::ImageChooser(kiln::paths_of(state, kiln::whole(options)))};
    return static_cast<int>(KILN_DONE);
  });
}

void kiln_registry_close(kiln_registry* registry) { delete registry; }

int kiln_registry_select(kiln_registry* registry, const char* dsl, size_t length,
                         const struct kiln_select_options* options, char** answer, char** error) {
  return kiln::asked(registry, dsl, length, options, true, answer, error,
                     [](const kiln::ChooserReply& reply) {
                       return reply.answer.is_null() ? std::string() : kiln::lines_of(reply.answer);
                     });
}

int kiln_registry_reference(kiln_registry* registry, const char* dsl, size_t length,
                            const struct kiln_select_options* options, char** reference, char** error) {
  return kiln::asked(registry, dsl, length, options, false, reference, error,
                     [](const kiln::ChooserReply& reply) { return reply.reference; });
}

int kiln_registry_explain(kiln_registry* registry, const char* dsl, size_t length,
                          const struct kiln_select_options* options, char** text, char** error) {
  return kiln::asked(registry, dsl, length, options, true, text, error,
                     [](const kiln::ChooserReply& reply) { return reply.text; });
}

int kiln_registry_job(kiln_registry* registry, const char* dsl, size_t length,
                      const struct kiln_job_options* options, char** answer, char** error) {
  return kiln::guarded(error, [&] {
    if (answer != nullptr) *answer = nullptr;
    kiln::need(registry != nullptr && dsl != nullptr, "the registry or the document is a null pointer");
    const std::string_view text(dsl, length);
    const kiln::JobAnswer job = kiln::job_of(kiln::JsonDocument::parse(text, "document"), text,
                                             kiln::job_question(kiln::whole(options)), registry->chooser);
    kiln::count(job.demand, registry->chooser.paths().state);
    kiln::give(kiln::lines_of(kiln::to_json(job)), answer);
    return static_cast<int>(KILN_DONE);
  });
}

int kiln_registry_snapshot(kiln_registry* registry, int64_t* number, char** error) {
  return kiln::guarded(error, [&] {
    kiln::need(registry != nullptr && number != nullptr, "the registry or the place is a null pointer");
    *number = 0;
    registry->chooser.with_index([&](const kiln::Index& index) { *number = index.current(); });
    return static_cast<int>(KILN_DONE);
  });
}

int kiln_registry_snapshots(kiln_registry* registry, char** snapshots, char** error) {
  return kiln::with_index(registry, error, [&](const kiln::Index& index) {
    kiln::give(kiln::lines_of(kiln::snapshots_json(index.snapshots())), snapshots);
  });
}

int kiln_registry_images(kiln_registry* registry, int64_t snapshot, char** images, char** error) {
  return kiln::with_index(registry, error, [&](const kiln::Index& index) {
    const auto asked = snapshot > 0 ? std::optional(snapshot) : std::nullopt;
    kiln::give(kiln::lines_of(kiln::entries_json(index.entries(asked))), images);
  });
}

void kiln_registry_free(char* text) { std::free(text); }
