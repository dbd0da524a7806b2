// A question to the index, and the whole answer: one code for the command line, the library and the server.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/base/json.h"
#include "factory/cpu/microarchitecture.h"
#include "factory/recipe/fact_sources.h"
#include "factory/record/image_record.h"
#include "registry/index/index.h"
#include "registry/select/demand.h"
#include "registry/select/select.h"

namespace kiln {

// Which host a question is about: docs/selection.md, "The host".
struct QuestionHost {
  Host host;
  bool here = false;   // it is this machine, by default
  std::string note{};  // a line for people, where the document's machines are not known, or this one was not
                       // taken; "" mostly
};

// Where hosts are looked up: files of this machine, archspec's table, the folder of a site's targets. All
// outlive this.
struct HostBook {
  const FileSystem& files;
  const Microarchitectures& cpus;
  std::filesystem::path targets = "matrix/targets";
};

// A description, as `kiln host` writes it. Throws Error(input) with the place of what is wrong.
QuestionHost described_host(const JsonDocument& document, const HostBook& book);

// `here`, `any`, or a target: a site's own, one of archspec's, or a composition (`zen4,nvidia:sm_90`). Throws
// Error(input) at `where` for another word.
QuestionHost named_host(const std::string& name, const SourceLocation& where, const HostBook& book);

// What a question that says nothing of a host is about.
enum class UnsaidHost {
  here,  // this machine, where it can be what the document asks for
  any    // no host is taken into account: the question comes from elsewhere
};

// The document's own host or target, else what `unsaid` says. Throws Error(input) for what describes no host.
QuestionHost host_of_question(const ImageQuery& query, UnsaidHost unsaid, const HostBook& book);

// What is asked besides the document.
struct QuestionTerms {
  std::string format{};                    // of the reference; "" = the document's, else tag
  std::optional<std::int64_t> snapshot{};  // nothing = the current one
  bool strict_gains = false;               // of optimised builds only those that are proven faster than stock
  bool allow_failing = false;              // images, too, that fail a test which their recipes have by now
  bool lenient = false;                    // an unknown key where images are chosen is a note
};

struct Question {
  DslReading reading;
  QuestionTerms terms;
  QuestionHost host{};
};

// What recipes and indexes say of graph compilers.
struct GraphCompilers {
  std::vector<std::string> names;  // which the document has as booleans
  StockCompilers stock{};
};

// `numbers`: of the document's text. Throws Error(input) for what cannot be understood, or, unless lenient,
// may be a misspelt choice. The host is the caller's to choose.
Question read_question(const JsonDocument& document, const GraphCompilers& compilers,
                       const QuestionTerms& terms, const WrittenNumbers& numbers);

// How many images they have in the index, by name.
using Applications = std::map<std::string, std::size_t>;

struct Answer {
  std::vector<IndexEntry> entries;          // of the application: the selection refers to them
  std::shared_ptr<const IndexEntry> found;  // where nothing but the winner is read: it refers to this
  Applications others;                      // other applications
  Selection selection;
  Answer() = default;
  Answer(Answer&&) = default;  // entries keep their places
  Answer& operator=(Answer&&) = default;
};

// As best_image() of the current snapshot; nullptr: none qualifies.
using FindBest = std::function<std::shared_ptr<const IndexEntry>(const Index& index, const ImageQuery& query,
                                                                 const Host& host)>;

// Reasons take reading all images of the application: if they are asked for (`explained`), and for a miss.
// Images of other applications never qualify: how many there are is all that is read of them. `index`:
// nullptr before the first publication. `find_best`: by default, by the rows of the index.
Answer ask(const Index* index, const Question& question, bool explained, const Microarchitectures& cpus,
           const FindBest& find_best = {});

// The answer as `kiln select --json` has it, without `answer` and what matrices add. `limit`: no more than so
// many others of a kind; 0: all.
Json to_json(const Answer& answer, const Question& question, std::size_t limit);

// "12 images of other applications: openmpi 3, pytorch 9\n"; "" when there are none.
std::string text_of(const Applications& others);

// Error(no_match) with what is nearest. `more`: what the caller knows besides, for the hint; "" mostly.
// `when_empty`: what is said of an index without images.
Error no_match(const Answer& answer, const Question& question, const std::string& more,
               const std::string& when_empty);

// How the question is counted (`kiln index demand`), on this day. A question about one snapshot is not
// counted, because it asks for no new image.
std::optional<Demand> demand_of(const Question& question, const Selection& selection,
                                const Microarchitectures& cpus, std::string day);

// Rows of the index as programs read them: the command line, the library and the server print these.

// `kiln index list --format json`.
Json entry_json(const IndexEntry& entry);
Json entries_json(const std::vector<IndexEntry>& entries);
// `kiln index snapshots --format json`, newest first.
Json snapshots_json(const std::vector<Snapshot>& snapshots);

// What an image is answered with: a reference that other programs take, or the path of a file.

// Whose images they are, and where their SIFs are shown.
struct ReferencePaths {
  std::filesystem::path state;         // the state folder, absolute
  std::filesystem::path sif_folder{};  // $SINGULARITY_DIR; "" = the state's own
};

// The formats that references are asked for in: tag, digest, oci, sif.
bool is_reference_format(std::string_view word);

// The tag in a registry, else the name in the index; the digest in a registry; `oci:DIR:TAG`; the path of the
// SIF, or `oras://…` for a SIF that is only in a registry. A mapping is its reference, whatever the format.
// Throws Error(store) when what it names is damaged, Error(no_match) for the digest of what is in no
// registry.
std::string reference_of(const ImageRecord& image, const std::string& format, const ReferencePaths& paths);

// The path of its SIF in the store, under its digest: no later publication puts another there. REQUIRES: it
// has one.
std::string stored_sif(const ImageRecord& image, const ReferencePaths& paths);

}  // namespace kiln
