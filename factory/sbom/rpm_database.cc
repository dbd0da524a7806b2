// An RPM header as rpmdb.sqlite keeps it (rpm's docs/manual/format_header.md, without magic and lead):
//
//   count of entries, size of data       2 × 4 bytes, big-endian
//   tag, type, offset, count of values   4 × 4 bytes for each entry
//   data
#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/sbom/databases.h"

namespace kiln::sbom {
namespace {

constexpr std::uint32_t kMostEntries = 65'535;
constexpr std::uint32_t kMostData = 256u << 20;  // as rpm itself has it
constexpr std::uint32_t kMostFiles = 10'000'000;

enum Tag : std::uint32_t {
  kName = 1000,
  kVersion = 1001,
  kRelease = 1002,
  kEpoch = 1003,
  kVendor = 1011,
  kLicense = 1014,
  kUrl = 1020,
  kArchitecture = 1022,
  kSourceRpm = 1044,
  kDirectoryIndexes = 1116,
  kBaseNames = 1117,
  kDirectoryNames = 1118,
};
enum Type : std::uint32_t { kInt32 = 4, kString = 6, kStringArray = 8, kI18nString = 9 };

[[noreturn]] void bad(const char* what) {
  throw Error(ExitCode::input, fmt::format("an RPM header {}", what));
}

class Header {
 public:
  explicit Header(std::string_view blob) {
    if (blob.size() < 8) bad("ends too early");
    std::uint32_t entries = word(blob, 0);
    std::uint32_t size = word(blob, 4);
    if (entries > kMostEntries || size > kMostData) bad("states an impossible size");
    std::uint64_t data = 8 + std::uint64_t{entries} * 16;
    if (data + size > blob.size()) bad("ends too early");
    data_ = blob.substr(data, size);
    for (std::uint32_t i = 0; i < entries; ++i) {
      std::size_t at = 8 + std::size_t{i} * 16;
      Entry entry{word(blob, at + 4), word(blob, at + 8), word(blob, at + 12)};
      entries_.emplace(word(blob, at), entry);
    }
  }

  std::string text(Tag tag) const {
    auto found = entries_.find(tag);
    if (found == entries_.end()) return "";
    if (found->second.type != kString && found->second.type != kI18nString)
      bad("has a text field of another type");
    std::uint64_t at = found->second.offset;
    std::string text(string_at(at));
    if (text.size() > 65'536 || first_not_utf8(text) != text.npos) bad("has an invalid text field");
    return text;
  }

  std::optional<std::uint32_t> number(Tag tag) const {
    auto found = entries_.find(tag);
    if (found == entries_.end()) return std::nullopt;
    return number_at(found->second, 0);
  }

  // The paths of its files without the leading "/", one after the other.
  template <typename Use>
  void files(Use use) const {
    auto names = entries_.find(kBaseNames);
    auto folders = entries_.find(kDirectoryNames);
    auto indexes = entries_.find(kDirectoryIndexes);
    if (names == entries_.end() || folders == entries_.end() || indexes == entries_.end()) return;
    std::vector<std::string_view> folder = strings(folders->second);
    std::uint64_t at = names->second.offset;
    if (names->second.type != kStringArray || names->second.count > kMostFiles)
      bad("has a damaged list of files");
    for (std::uint32_t i = 0; i < names->second.count; ++i) {
      std::string_view name = string_at(at);
      std::uint32_t in = number_at(indexes->second, i);
      if (in >= folder.size()) bad("names a file without a folder");
      use(folder[in], name);
    }
  }

 private:
  struct Entry {
    std::uint32_t type;
    std::uint32_t offset;
    std::uint32_t count;
  };

  static std::uint32_t word(std::string_view bytes, std::size_t at) {
    auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(bytes[at + i])}; };
    return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
  }

  // The text at `at`, which then is behind it.
  std::string_view string_at(std::uint64_t& at) const {
    if (at >= data_.size()) bad("has a text field outside of its data");
    std::size_t end = data_.find('\0', at);
    if (end == data_.npos) bad("has a text field without an end");
    std::string_view text = data_.substr(at, end - at);
    at = end + 1;
    return text;
  }

  std::vector<std::string_view> strings(const Entry& entry) const {
    if (entry.type != kStringArray || entry.count > kMostFiles) bad("has a damaged list of folders");
    std::vector<std::string_view> all;
    std::uint64_t at = entry.offset;
    for (std::uint32_t i = 0; i < entry.count; ++i) all.push_back(string_at(at));
    return all;
  }

  std::uint32_t number_at(const Entry& entry, std::uint32_t index) const {
    if (entry.type != kInt32 || index >= entry.count) bad("has an invalid number field");
    std::uint64_t at = entry.offset + std::uint64_t{index} * 4;
    if (at + 4 > data_.size()) bad("has a number field outside of its data");
    return word(data_, at);
  }

  std::string_view data_;
  std::map<std::uint32_t, Entry> entries_;  // the first of each tag
};

// "bash-5.2.26-3.fc40.src.rpm" → bash, 5.2.26-3.fc40.
void set_source_rpm(Package& package, const std::string& rpm) {
  constexpr std::string_view kEnding = ".src.rpm";
  if (!rpm.ends_with(kEnding)) return;
  std::string stem = rpm.substr(0, rpm.size() - kEnding.size());
  std::size_t release = stem.rfind('-');
  if (release == stem.npos || release == 0) return;
  std::size_t version = stem.rfind('-', release - 1);
  if (version == stem.npos) return;
  package.source_name = stem.substr(0, version);
  package.source_version = stem.substr(version + 1);
  if (package.source_name == package.name && package.source_version == package.version) {
    package.source_name.clear();
    package.source_version.clear();
  }
}

}  // namespace

Package read_rpm_header(std::string_view blob) {
  Header header(blob);
  Package package;
  package.ecosystem = Ecosystem::rpm;
  package.name = header.text(kName);
  package.version = header.text(kVersion);
  if (package.name.empty() || package.version.empty()) bad("has no name or no version");
  if (std::string release = header.text(kRelease); !release.empty()) package.version += "-" + release;
  if (auto epoch = header.number(kEpoch)) package.epoch = std::to_string(*epoch);
  package.architecture = header.text(kArchitecture);
  package.supplier = header.text(kVendor);
  package.homepage = header.text(kUrl);
  package.license = read_license(header.text(kLicense));
  set_source_rpm(package, header.text(kSourceRpm));
  header.files([&](std::string_view folder, std::string_view name) {
    bool metadata = name == "METADATA" || name == "PKG-INFO" || name.ends_with(".egg-info");
    if (!metadata) return;
    std::string path = std::string(folder) + std::string(name);
    if (is_python_metadata(path)) package.python.push_back(path.substr(path.starts_with('/') ? 1 : 0));
  });
  return package;
}

namespace {

constexpr int kMostBlob = 256 << 20;  // bytes of one header
// Virtual machine steps for one database: 100 000 packages take less than a tenth.
constexpr int kStepsBetweenChecks = 100'000;
constexpr int kMostChecks = 1'000;

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

[[noreturn]] void bad(sqlite3* database, const char* doing) {
  throw Error(ExitCode::input,
              fmt::format("rpmdb.sqlite is damaged: {}: {}", doing, sqlite3_errmsg(database)));
}

int check_steps(void* checks) { return ++*static_cast<int*>(checks) > kMostChecks ? 1 : 0; }

// Nothing in the file may be believed: no triggers, views or functions of its schema are run.
void harden(sqlite3* database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMostBlob);
  sqlite3_exec(database, "PRAGMA cell_size_check=ON; PRAGMA query_only=ON", nullptr, nullptr, nullptr);
}

}  // namespace

std::vector<Package> read_rpm_database(std::string_view bytes) {
  constexpr std::size_t kHeader = 100;
  if (bytes.size() < kHeader || !bytes.starts_with("SQLite format 3"))
    throw Error(ExitCode::input, "rpmdb.sqlite is not an SQLite database");
  // Freed by SQLite, also where deserialising fails.
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  if (copy == nullptr) throw Error(ExitCode::store, "out of memory");
  std::memcpy(copy, bytes.data(), bytes.size());
  // A database in memory cannot be in WAL mode; without the log's file the bytes mean the same.
  if (copy[18] == 2) copy[18] = 1;
  if (copy[19] == 2) copy[19] = 1;
  sqlite3* opened = nullptr;
  int status = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE, nullptr);
  std::unique_ptr<sqlite3, Close> database(opened);
  if (status != SQLITE_OK) {
    sqlite3_free(copy);
    bad(opened, "opening");
  }
  auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(opened, "main", copy, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    bad(opened, "opening");
  harden(opened);
  int checks = 0;
  sqlite3_progress_handler(opened, kStepsBetweenChecks, check_steps, &checks);
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(opened, "SELECT blob FROM Packages", -1, &prepared, nullptr) != SQLITE_OK)
    bad(opened, "reading Packages");
  std::unique_ptr<sqlite3_stmt, Close> statement(prepared);
  std::vector<Package> packages;
  while ((status = sqlite3_step(prepared)) == SQLITE_ROW) {
    const auto* blob = static_cast<const char*>(sqlite3_column_blob(prepared, 0));
    int length = sqlite3_column_bytes(prepared, 0);
    if (blob == nullptr || length < 0)
      throw Error(ExitCode::input, "rpmdb.sqlite has a package without a header");
    Package package = read_rpm_header({blob, static_cast<std::size_t>(length)});
    if (packages.size() == kMostPackages)
      throw Error(ExitCode::input, fmt::format("more than {} packages", kMostPackages));
    // The signing keys that rpm keeps beside its packages.
    if (package.name != "gpg-pubkey") packages.push_back(std::move(package));
  }
  if (status != SQLITE_DONE) bad(opened, "reading Packages");
  return packages;
}

}  // namespace kiln::sbom
