// The site file: what is true of this machine or centre and must never enter a key.
// Schema: `kiln schema site`. Found at $KILN_SITE, ./site.json, $XDG_CONFIG_HOME/kiln/site.json, else
// defaults.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/site/launcher.h"
#include "factory/site/own_limits.h"

namespace kiln {

// Compression of layers. zstd is smaller and several times as fast; every registry and engine reads gzip. A
// site chooses one of the two; kiln reads uncompressed layers but does not write them.
enum class LayerCompression { none, gzip, zstd };

// Where a secret of recipes is: in a file, or in an environment variable of kiln.
struct SecretSource {
  std::string file;  // absolute; "" when it is in a variable
  std::string variable;
};

// Where steps keep what compilers and pip find again (run/caches.h).
struct CacheSettings {
  bool use = true;
  std::string folder;                // absolute; "": caches/ of the state folder
  std::uint64_t size = 20ull << 30;  // bytes of all of them together
};

// Limits for pulls from registries. Zero means no limit.
struct PullLimits {
  std::chrono::seconds wall{std::chrono::hours(3)};     // for one image, with all tries and waits
  std::chrono::seconds stall{std::chrono::minutes(3)};  // for the next byte
  int retries = 5;                                      // after the first try
};

// Settings of `kiln gc`: snapshots, steps and images that it keeps.
struct Retention {
  std::chrono::seconds keep_for{std::chrono::hours(30 * 24)};  // snapshots, images, logs that are younger
  int keep_snapshots = 10;                                     // the newest, whatever their age; at least 1
  // Steps and tests that no plan names any more: a plan that goes back to them finds them.
  std::chrono::seconds keep_steps_for{std::chrono::hours(7 * 24)};
  // Numbers of snapshots; names (globs) and digests of images.
  std::vector<std::string> keep;
};

// Jobs that have to be green before a night publishes.
struct GateRule {
  std::string name;
  std::vector<std::string> cells;  // patterns, as commands take them
};

// Settings of `kiln nightly`.
struct NightSettings {
  std::chrono::seconds every{std::chrono::hours(24)};    // from one night to the next; zero: not known
  bool has_every = false;                                // the site file says so
  std::chrono::seconds lease{std::chrono::minutes(10)};  // a night that is silent for longer is dead
  int keep = 100;                                        // reports
  std::vector<GateRule> gate;
  std::optional<SecretSource> webhook;  // where a URL is, which is posted to on a change of state
  std::vector<std::string> command;     // is run then, with the notice on its standard input
  std::chrono::seconds remind{
      std::chrono::hours(24 * 7)};  // a notice again while it is not green; zero: never
  std::string metrics;              // a folder that gets kiln.prom, too: an absolute path; "" = none
};

// A name of the site's own for images of the index, in the registry that they are published to.
struct SiteAlias {
  std::string repository, tag;      // "modak", "tensorflow-2.1-gpu-src"
  std::vector<std::string> images;  // patterns (registry/index/image_patterns.h); at least one
  std::string name() const { return repository + ":" + tag; }
};

// Where `kiln publish` pushes to by default.
struct PublishDestination {
  std::string registry;              // as --to has it; "": nowhere, images are recorded in the index alone
  std::string key;                   // signs the images: an absolute path; "": none does
  std::string passphrase_file;       // opens the key: an absolute path; "": it needs none
  std::vector<SiteAlias> aliases{};  // no two of one name
};

// Where steps are shared with other builders: in a registry or in a folder, or nowhere. kiln accepts steps
// from there if a trusted key, or the key that signs here, has signed them; in a private folder, if they
// belong to this user.
struct StepSharing {
  std::string registry;            // [http://]HOST[:PORT]/PATH: the repository; "" = none
  std::string folder;              // an absolute path; "" = none
  bool is_private = false;         // only this user writes to the folder
  std::string key;                 // signs what is made here: an absolute path; "" = none does
  std::string passphrase_file;     // opens the key; "" = it needs none
  std::vector<std::string> trust;  // public keys: absolute paths
  std::chrono::seconds keep_for{std::chrono::hours(30 * 24)};  // steps that were not used for longer may go
  bool is_used() const { return !registry.empty() || !folder.empty(); }
  bool writes() const { return !key.empty() || is_private; }  // else no builder would trust it
};

// How often a pin may be moved by a night: no more than once in this time since it moved last; zero is each
// night, nullopt never.
using MoveInterval = std::optional<std::chrono::seconds>;

// Entries of the lockfile that a night may update automatically. Statements of recipes (versions, sources,
// commits) are not among them.
struct UpdatePolicy {
  MoveInterval bases = std::chrono::hours(7 * 24);     // digests of images that are pulled
  MoveInterval archives = std::chrono::hours(7 * 24);  // states of package archives
  bool archspec = true;                                // follows the tables that are installed
  int proposals = 3;  // newer versions of upstream that are shown at a time; 0: none is looked for
};

struct Site {
  std::string engine = "buildah";
  // Folder on a disk of each machine's own, for the engine's store; "" = in the state folder.
  std::string scratch;
  Launcher launcher;
  int jobs = 0;  // 0 = number of processors / 2, at least 1
  LayerCompression layer_compression = LayerCompression::zstd;
  int zstd_level = 3;
  CommandLimits step_limits{std::chrono::hours(6), std::chrono::minutes(45), 256u << 20};
  std::map<std::string, OwnLimits> component_limits;  // of the steps of some: "framework/pytorch"
  int step_retries = 3;  // after the first try, of what another try may help (run/retry.h)
  PullLimits pull_limits;
  // Handed on into builds: names of environment variables (globs allowed) and files mounted read-only.
  std::vector<std::string> pass_environment = {"http_proxy", "https_proxy", "no_proxy",
                                               "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
                                               "ALL_PROXY",  "all_proxy",   "PIP_*"};
  std::string ca_certificates = "/etc/ssl/certs/ca-certificates.crt";  // mounted when it exists
  std::string pip_configuration = "";           // "" = what pip itself would read, when it exists
  std::string git_configuration = "";           // "" = the machine's (/etc/gitconfig), when it exists
  std::string mirror = "";                      // a folder that `kiln mirror` filled; absolute, "" = none
  bool offline = false;                         // steps get that in place of the network
  std::map<std::string, SecretSource> secrets;  // by the name that recipes know it by
  CacheSettings cache;
  bool sif = true;                                   // packaged in addition to the OCI image ("formats")
  std::string builder = "urn:kiln:builder:unnamed";  // SLSA's builder.id: a URI that people trust or do not
  bool evidence_fails = true;                        // an image whose code exceeds its target is not packaged
  Retention retention;                               // "gc"
  NightSettings night;                               // "nightly"
  UpdatePolicy update;                               // "nightly": {"update": …}
  bool collect_registry = false;                     // "gc": what was pushed, too
  PublishDestination publish;
  StepSharing shared_steps;  // "steps"
  std::string file;          // "" = built-in defaults

  // Of a step of `component`, whose recipe has `recipes`: the site's, widened by the recipe's. The site's
  // limits for the component override both.
  CommandLimits limits_of(const std::string& component, const OwnLimits& recipes) const;
};

const std::vector<std::string>& engine_names();

// Throws Error(input), also if a file that it names is missing.
Site read_site(const FileSystem& files, const fs::path& file);
// Looks in the places above; $XDG_CONFIG_HOME defaults to ~/.config.
Site find_site(const FileSystem& files, const std::map<std::string, std::string>& environment);

}  // namespace kiln
