// kiln select -f, kiln job -f: matrices with a cell that would be the answer, where the index has none, and
// its build.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/cli/invocation.h"
#include "factory/cli/question.h"
#include "factory/run/suitable_cell.h"

namespace kiln {

// -f, once or more.
void add_matrices_option(CLI::App& command, std::vector<std::string>& matrices);

void add_build_if_missing(CLI::App& command, bool& build_if_missing);
// Throws Error(usage) for options that do not go together, and for one lockfile of several matrices;
// Error(input) for a missing file, but not for the one that the environment names, which may be meant for
// other commands.
void check_build_if_missing(const CLI::App& command, bool build_if_missing,
                            const std::vector<std::string>& matrices, const Invocation& invocation);

// The matrices, and which of their cells would be the answer to a question.
class SelectCells {
 public:
  // Reads and plans them; throws as Invocation::load(). REQUIRES: query, host and invocation outlive this.
  SelectCells(std::vector<std::string> files, const ImageQuery& query, const Host& host,
              Invocation& invocation);

  // `published`: the index's images of the application. Packaged images of the state folder count as they
  // are.
  void find(const std::vector<IndexEntry>& published);
  // The suitable cell; nothing if no cell is suitable.
  const std::optional<PlanCell>& cell() const { return found_.cell; }
  // "" when the image of a cell, which is packaged, is an answer; else the first clause that it fails.
  std::string unfit(const PlanCell& cell, const std::vector<IndexEntry>& published) const;

  const ImageQuery& query() const { return *query_; }
  const Site& site() const { return site_; }
  const std::string& file(const PlanCell& cell) const { return files_[cell.plan]; }
  const Catalogue& catalogue(const PlanCell& cell) const { return catalogues_[cell.plan]; }
  ResolvedImage image(const PlanCell& cell) const { return catalogue(cell).plan.image(cell.image); }

  // The result, in words: after "no image matches", as lines of --explain, and as members of --json.
  std::string hint() const;
  std::string explain() const;
  void add_to(Json& json) const;

 private:
  CellQuestion question(const std::vector<IndexEntry>& published) const;
  std::string names() const;
  std::string broken() const;
  Json cell_json(const PlanCell& cell) const;

  std::vector<std::string> files_;
  std::vector<Catalogue> catalogues_;
  Site site_;
  const ImageQuery* query_;
  const Host* host_;
  Invocation* invocation_;
  CellAnswer found_;
};

// The actions if no image qualifies.
struct MissingImage {
  const std::vector<std::string>& matrices;  // whose cells are looked at
  bool is_built = false;                     // the matching cell is built and published
  bool is_counted = true;  // so is the question (`kiln index demand`), with or without an answer
};

// The answer of the index. If no image qualifies, `cells` has what the matrices have; and if a cell matches
// and is to be built: waits for the lock of the state folder and asks the index again, since another process
// may have published meanwhile, else builds, tests and publishes that one image and answers with it. Progress
// goes to stderr. Throws Error(no_match) when what was built does not do after all: it is not published then;
// for a build that failed, with the exit code of `kiln build`.
Answer answer_or_build(Asking& asking, bool explained, const MissingImage& missing,
                       std::optional<SelectCells>& cells, Invocation& invocation);

}  // namespace kiln
