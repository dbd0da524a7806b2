// The images of a snapshot in memory, for a program that asks often: parts of records that many share, and a
// row of numbers for each image. Its answers are those of select_image(). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "registry/select/host_clauses.h"
#include "registry/select/query_clauses.h"
#include "registry/select/ranking.h"
#include "registry/select/table_images.h"

namespace kiln {

class SnapshotTable {
 public:
  struct Image {
    TagName tag;
    Digest manifest;
  };

  explicit SnapshotTable(TableImages of);
  std::size_t size() const { return images_.size(); }
  // Of an image of this table, from 0.
  std::size_t number_of(const Image& image) const {
    return static_cast<std::size_t>(&image - images_.data());
  }

 private:
  friend class TableSelector;
  struct Row {
    std::uint32_t host;   // profile
    std::uint32_t image;  // by name, code and manifest: the lower is the better
    std::uint32_t measured;
    bool stale, failing, retired;
  };
  // What rows of many choices have in common: where their images run, and what became of them.
  struct RowKind {
    std::uint32_t host;
    bool stale, failing, retired;
    auto operator<=>(const RowKind&) const = default;
  };
  using Shape = std::vector<RowKind>;  // of a choice's rows
  struct Choice {
    ImageRecord part;
    std::uint32_t version, compilers;  // parts with nothing else
    std::uint32_t version_rank;        // of all versions, the newest first
    bool pre_release;
    std::uint32_t first, end;  // of its rows
    std::uint32_t shape = 0;
  };
  struct Range {
    std::uint32_t first, end;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void add_choice(const ImageRecord& part);
  void rank_versions();
  void number_shapes();

  std::vector<Image> images_;                            // by name
  std::vector<Row> rows_;                                // by choice
  std::vector<Choice> choices_;                          // by application
  std::unordered_map<std::string, Range> applications_;  // of choices; in lower case
  std::vector<Shape> shapes_;                            // each once
  std::vector<ImageRecord> hosts_, versions_, compilers_;
  std::map<std::string, std::uint32_t> version_numbers_, compiler_numbers_;
  std::vector<std::shared_ptr<const IndexEntry>> measured_;
};

// One host's questions. The arguments outlive it; one thread at a time.
class TableSelector {
 public:
  TableSelector(const SnapshotTable& table, Host host, const Microarchitectures& cpus);
  // nullptr: none qualifies. Throws as select_image() does.
  const SnapshotTable::Image* best(const ImageQuery& query);

 private:
  struct HostFit {
    bool runs = false;
    bool by_ptx = false;
    std::uint32_t rank = 0;       // of its code: the lower is the better
    std::uint32_t cuda_rank = 0;  // of its CUDA, likewise
  };
  using Positions = std::vector<std::uint32_t>;  // of a choice's rows, from 0
  // The same for all questions that ask the same of the host.
  struct Fits {
    std::vector<HostFit> hosts;
    std::map<std::pair<std::uint32_t, bool>, Positions> best;  // of a shape; true: failing images as well
  };
  struct ChosenChoice {
    const SnapshotTable::Choice* choice;
    std::size_t unasked;  // components
  };
  using ChosenChoices = std::vector<ChosenChoice>;
  struct Contender {
    const SnapshotTable::Row* row;
    const SnapshotTable::Choice* choice;
    std::size_t unasked;
  };

  bool is_near(const SnapshotTable::Row& row) const;
  Fits& fits_for(const ImageQuery& query, const QueryClauses& judge);
  // Of rows that no speed ranks, those that may be the best of their choice.
  const Positions& best_of(std::uint32_t shape, bool allow_failing, Fits& fits) const;
  // The same for all questions that choose the same.
  const ChosenChoices& chosen_by(const ImageQuery& query, const QueryClauses& judge);
  ChosenChoices choose(const ImageQuery& query, const QueryClauses& judge) const;
  void contend(const ImageQuery& query, const QueryClauses& judge, Fits& fits);
  std::map<const SnapshotTable::Row*, Speed> speeds(const ImageQuery& query) const;

  const SnapshotTable* table_;
  Host host_;
  const Microarchitectures* cpus_;
  std::optional<KnownHost> known_;
  std::vector<bool> near_;      // of measured_: taken where it compares
  std::vector<bool> has_near_;  // of choices_: one of its rows is near
  std::vector<int> doubts_;     // of choices_: Ranker::doubt()
  std::unordered_map<std::string, Fits> fits_;
  std::unordered_map<std::string, ChosenChoices> chosen_;
  std::size_t kept_choices_ = 0;  // in chosen_, of all its questions
  ChosenChoices not_kept_;        // of a question that is too long for chosen_
  std::vector<Contender> contenders_;
};

}  // namespace kiln
