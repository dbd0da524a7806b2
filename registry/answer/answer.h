// A question to the index, and the whole answer: one code for the command line, the library and the server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/recipe/fact_sources.h"
#include "registry/answer/question_host.h"
#include "registry/answer/reference.h"
#include "registry/index/index.h"
#include "registry/select/demand.h"

namespace kiln {

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
  std::vector<IndexEntry> entries;  // of the application: the selection refers to them
  Applications others;              // other applications
  Selection selection;
  Answer() = default;
  Answer(Answer&&) = default;  // entries keep their places
  Answer& operator=(Answer&&) = default;
};

// As best_image() of the current snapshot.
using FindBest =
    std::function<std::optional<IndexEntry>(const Index& index, const ImageQuery& query, const Host& host)>;

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

}  // namespace kiln
