// The state folder (default `.kiln`): every name on disk is made here.
//
//   plans/<matrix>.json    the plan that `kiln step` runs, and that the next `--explain` compares with
//   origins/<matrix>.json  licences and commits of the recipes: for the documents that go with images
//   builds/<plan>/         of the build of that plan: its lock (lock.h), build.ninja and ninja's log, the
//                          FIFO in which its steps report, and recipes/<kind>/<name>/, the recipe files of
//                          the plan: an edit during a build changes nothing
//   builds.turn            held for moments, while builds begin
//   lock, lock.queue       of the whole folder: builds share it, other writers have it alone (lock.h);
//                          writers.lease/ where it is on a network file system, whose locks may be each
//                          machine's own (night/lease.h)
//   steps/<key>.json       StepRecord: the step is done, its layers are in the store
//   tests/<key>.json       TestRecord: the test passed
//   failed/<key>.json      FailureRecord of the last attempt; removed when the step succeeds
//   running/<key>          locked by the process that runs the step or packages the image (claim.h)
//   jobs/<key>/            of Slurm: script and output of a step's or an image's job (cluster/job_files.h)
//   history.jsonl          what steps took when they ran (step_history.h)
//   memory/<host>/         the memory of that machine among its running steps (memory_share.h)
//   images/<repository>/<immutable tag>/   OCI image layout (blobs hard-linked from the store)
//   built/<record_name>.json  ImageRecord of a packaged image, not yet published
//   conversions/<key>.json the SIF that was made from an image: the same image and options need no other
//   sif -> sif.snapshots/<n>               <repository>_<tag>.sif of the current snapshot (sif_folder.h)
//   logs/<key>.log         log of the last attempt; of an image's key: the evidence
//   logs/<cell>/           links to those of the cell (run/log_links.h)
//   nights/<matrix>/<n>/   reports of `kiln nightly` (night/night_files.h); nights.lease/ who runs one;
//                          nights.reserve room for the next (night/budget.h)
//   locks/<matrix>.<digest>.json  the lockfile as the last night left it (last_lockfile.h)
//   hosts/<name>.json      what that machine can do (run/host_rates.h)
//   derived/<name>.json, derived/recipes/<digest>/   images that `kiln derive` made (derive/derivation.h)
//   proposals.json         newer versions of upstream that were proposed, in their order
//   bench/runs/<sum>.json  a run of a workload, named by its content (run/kept_runs.h)
//   bench/discarded/<sum>.json  a run that `kiln bench discard` put aside
//   bench/begun/<sum>.json the runs of a comparison that is not complete
//   bench/rounds/<sum>/    what its jobs of Slurm read and write (run/bench_rounds.h)
//   bench/tuning/<sum>.jsonl  the journal of a tuning (run/tuning_run.h)
//   bench/tuned/<sum>.json its result (record/tuned_record.h)
//   pushed.jsonl           what lies in registries (pushed.h)
//   shared.unread, shared.unwritten   where steps are shared could not be reached, and why (share/)
//   formats                what the images of built/ were packaged as
//   blobs/                 a cache: which blobs the records promise (blob_ledger.h)
//   evidence/              a cache: what was found in large ELF files, in layers and in images
//   caches/<kind>/<id>/    what scripts find again (run/caches.h)
//   caches/<kind>/<id>.uses/  a locked file for each step that uses it
//   collected.json         the state folder as the last collection left it (collect/collection_due.h)
//   engine/                the engine's private store: a cache, deleted whole when in doubt
//   engine.sessions/       a locked file for each process that uses it
//   engine.lock, engine.import.lock   for changes of it
//   tmp/                   private folders of running steps
//   store/                 BlobStore
//   index.db               registry index
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "factory/base/effects.h"
#include "factory/site/site.h"

namespace kiln {

class StatePaths {
 public:
  explicit StatePaths(std::filesystem::path root) : root_(std::move(root)), engine_(root_ / "engine") {}
  // The same state with the engine's store (engine/, engine.sessions/, its locks) in a separate folder below
  // `scratch` of the site file, a local disk of this machine. "": unchanged.
  StatePaths with_scratch(const std::filesystem::path& scratch) const;
  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path plan(std::string_view name) const { return file("plans", name, ".json"); }
  std::filesystem::path recipe_origin(std::string_view plan) const { return file("origins", plan, ".json"); }
  std::filesystem::path builds() const { return root_ / "builds"; }
  std::filesystem::path builds_turn() const { return root_ / "builds.turn"; }
  std::filesystem::path build(std::string_view plan) const { return builds() / checked(plan); }
  std::filesystem::path build_lock(std::string_view plan) const { return build(plan) / "lock"; }
  std::filesystem::path ninja(std::string_view plan) const { return build(plan) / "build.ninja"; }
  std::filesystem::path step_terms(std::string_view plan) const { return build(plan) / "terms.json"; }
  std::filesystem::path events(std::string_view plan) const { return build(plan) / "events.fifo"; }
  std::filesystem::path recipes(std::string_view plan) const { return build(plan) / "recipes"; }
  std::filesystem::path lock() const { return root_ / "lock"; }
  std::filesystem::path step(std::string_view key) const { return file("steps", key, ".json"); }
  std::filesystem::path test(std::string_view key) const { return file("tests", key, ".json"); }
  std::filesystem::path failure(std::string_view key) const { return file("failed", key, ".json"); }
  std::filesystem::path running() const { return root_ / "running"; }
  std::filesystem::path running(std::string_view key) const { return file("running", key, ""); }
  std::filesystem::path jobs() const { return root_ / "jobs"; }
  std::filesystem::path job(std::string_view key) const { return file("jobs", key, ""); }
  std::filesystem::path history() const { return root_ / "history.jsonl"; }
  std::filesystem::path memory(std::string_view host) const { return root_ / "memory" / checked(host); }
  std::filesystem::path built(std::string_view record) const { return file("built", record, ".json"); }
  std::filesystem::path built_folder() const { return root_ / "built"; }
  std::filesystem::path step_folder() const { return root_ / "steps"; }
  std::filesystem::path test_folder() const { return root_ / "tests"; }
  std::filesystem::path image_blobs() const { return root_ / "blobs" / "images"; }
  std::filesystem::path step_blobs() const { return root_ / "blobs" / "steps"; }
  std::filesystem::path logs() const { return root_ / "logs"; }
  std::filesystem::path log(std::string_view key) const { return file("logs", key, ".log"); }
  std::filesystem::path layout(std::string_view repository, std::string_view immutable_tag) const {
    return root_ / "images" / checked(repository) / checked(immutable_tag);
  }
  std::filesystem::path layouts(std::string_view repository) const {
    return root_ / "images" / checked(repository);
  }
  std::filesystem::path conversion(std::string_view key) const { return file("conversions", key, ".json"); }
  std::filesystem::path sif_folder() const { return root_ / "sif"; }
  std::filesystem::path sif_snapshots() const { return root_ / "sif.snapshots"; }
  std::filesystem::path pushed() const { return root_ / "pushed.jsonl"; }
  std::filesystem::path shared_unread() const { return root_ / "shared.unread"; }
  std::filesystem::path shared_unwritten() const { return root_ / "shared.unwritten"; }
  std::filesystem::path nights(std::string_view matrix) const { return root_ / "nights" / checked(matrix); }
  std::filesystem::path nights_lease() const { return root_ / "nights.lease"; }
  std::filesystem::path writers_lease() const { return root_ / "writers.lease"; }
  std::filesystem::path nights_reserve() const { return root_ / "nights.reserve"; }
  std::filesystem::path last_lockfile(std::string_view name) const { return file("locks", name, ".json"); }
  std::filesystem::path host(std::string_view name) const { return file("hosts", name, ".json"); }
  std::filesystem::path derived() const { return root_ / "derived"; }
  std::filesystem::path derived(std::string_view name) const { return file("derived", name, ".json"); }
  std::filesystem::path derived_recipes() const { return root_ / "derived" / "recipes"; }
  std::filesystem::path derived_recipes(std::string_view digest) const {
    return derived_recipes() / checked(digest);
  }
  std::filesystem::path proposals() const { return root_ / "proposals.json"; }
  std::filesystem::path bench_runs() const { return root_ / "bench" / "runs"; }
  std::filesystem::path bench_run(std::string_view sum) const { return file("bench/runs", sum, ".json"); }
  std::filesystem::path bench_discarded() const { return root_ / "bench" / "discarded"; }
  std::filesystem::path bench_discarded(std::string_view sum) const {
    return file("bench/discarded", sum, ".json");
  }
  std::filesystem::path bench_tables() const { return root_ / "bench" / "tables"; }
  std::filesystem::path bench_table(std::string_view sum) const { return file("bench/tables", sum, ".json"); }
  std::filesystem::path bench_begun() const { return root_ / "bench" / "begun"; }
  std::filesystem::path bench_begun(std::string_view sum) const { return file("bench/begun", sum, ".json"); }
  std::filesystem::path bench_rounds(std::string_view sum) const { return file("bench/rounds", sum, ""); }
  std::filesystem::path tuning(std::string_view sum) const { return file("bench/tuning", sum, ".jsonl"); }
  std::filesystem::path tuned_folder() const { return root_ / "bench" / "tuned"; }
  std::filesystem::path tuned(std::string_view sum) const { return file("bench/tuned", sum, ".json"); }
  std::filesystem::path formats() const { return root_ / "formats"; }
  std::filesystem::path evidence() const { return root_ / "evidence"; }
  std::filesystem::path caches() const { return root_ / "caches"; }
  std::filesystem::path engine() const { return engine_; }
  std::filesystem::path store() const { return root_ / "store"; }
  std::filesystem::path collected() const { return root_ / "collected.json"; }
  std::filesystem::path temporary() const { return root_ / "tmp"; }

 private:
  std::filesystem::path file(std::string_view folder, std::string_view key, std::string_view ending) const;
  // Refuses "", ".", "..", "/", NUL, a leading "-" and more than 250 bytes: Error(input).
  static std::string checked(std::string_view name);
  std::filesystem::path root_;
  std::filesystem::path engine_;
};

// Compares the formats of a state folder's packaged images with those that the site file requests now.

// False if the site file requests a format that an image of <state>/built may lack: lacks_format() then says
// which image.
bool has_formats(const Site& site, const StatePaths& state, const FileSystem& files);
// True if the image with that record_name() is packaged and lacks a format that the site file requests.
// Throws Error(input) for a damaged record.
bool lacks_format(const Site& site, const StatePaths& state, std::string_view record,
                  const FileSystem& files);
// Marks images of <state>/built that lack a format of the site file, so that the next build packages them
// again. REQUIRES: the state's lock is held.
void repackage_for_formats(const Site& site, const StatePaths& state, FileSystem& files);

}  // namespace kiln
