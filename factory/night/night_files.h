// The reports of nights on disk, `<state>/nights/<matrix>/`:
//
//   <number>/night.json    the report; written last: without it there was no such night
//   <number>/report.html, junit.xml
//   <number>/past.json     what later nights keep of it (PastNight), with size and time of its night.json:
//                          one of another night.json is not believed
//   latest -> <number>
//   running.json           of the running night; the next night detects a killed one by it
//   published.json         the state folder as a night left it when it published (run/publish.h)
//   told.json              the last notice that was sent (notice.h)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/night/night.h"
#include "factory/night/notice.h"
#include "factory/state/state.h"

namespace kiln {

// Folders whose files are counted: "1", "2", … Pure but for the look into the folder.

// The numbers that are names in `folder`, smallest first; other names, and numbers too large for a count, are
// left out.
std::vector<std::int64_t> numbers_in(const fs::path& folder, const FileSystem& files);

// A night that has begun.
struct NightBegun {
  std::int64_t number = 0;
  std::int64_t started = 0;  // seconds since 1970
  std::string by;            // process and machine
};

class NightFolder {
 public:
  // REQUIRES: `files` outlives this.
  NightFolder(const StatePaths& state, const std::string& matrix, FileSystem& files);

  const fs::path& path() const { return path_; }
  fs::path night(std::int64_t number) const;

  // Reads the reports, newest first, until `visit` returns false. Each has thousands of images, so one is in
  // memory at a time. Damaged ones are left out, and named in `damaged`.
  void each_report(const std::function<bool(const NightReport&)>& visit,
                   std::vector<std::string>* damaged = nullptr) const;
  // The same for the kept part of each night, without its images. A night without an intact past.json is read
  // from its report.
  void each_past(const std::function<bool(PastNight)>& visit,
                 std::vector<std::string>* damaged = nullptr) const;
  // A night that has begun and not ended: it runs, or it was killed.
  std::optional<NightBegun> begun() const;
  SentNotice told() const;

  // The methods below REQUIRE: the lease is held. Each throws Error(store).

  // The next number, never one that was used.
  NightBegun begin(std::int64_t now, const std::string& by);
  // The three files of a night, and then it is over.
  void write(const NightReport& report, const std::string& html, const std::string& junit);
  void write(const SentNotice& told);
  void keep_only(int newest);  // reports; the others go

 private:
  std::optional<NightReport> report(std::int64_t number, std::vector<std::string>* damaged) const;
  std::optional<PastNight> past(std::int64_t number) const;
  void keep_past(const NightReport& report);

  fs::path path_;
  FileSystem& files_;
};

}  // namespace kiln
