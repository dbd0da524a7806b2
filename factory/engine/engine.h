// Engines run steps in containers. They keep nothing that kiln relies on: their store is a cache that may be
// deleted whole.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/oci/overlay_tree.h"
#include "factory/oci/registry_call.h"
#include "factory/state/record_store.h"

namespace kiln {

struct Mount {
  fs::path source;     // on the build host
  std::string target;  // absolute path in the container
  bool writable = false;
  // As buildah, podman and docker have it: SOURCE:TARGET:ro.
  std::string volume() const { return source.string() + ":" + target + (writable ? ":rw" : ":ro"); }
};

struct ContainerRun {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  std::vector<Mount> mounts;
  std::vector<std::string> devices;  // of this machine, absolute, the same inside
  std::string folder = "/";
  bool network = true;
  fs::path log;
  bool capture_stdout = false;
  CommandLimits limits;
  std::function<void(std::string_view)> on_line = {};  // as Command::on_line
  std::vector<std::string> hidden = {};                // as Command::hidden
  bool interactive = false;                            // as Command::interactive
  bool unsynced = false;                               // as Command::unsynced
};

// A writable container, private to one step. Removed by the destructor.
class Container {
 public:
  virtual ~Container() = default;
  virtual CommandResult run(const ContainerRun& request) = 0;
  // Unpacks a root file system archive at /.
  virtual void add_archive(const fs::path& tar) = 0;
  // Copies absolute paths of another container's file system to the same paths here.
  virtual void copy_from(Container& other, const std::vector<std::string>& paths, const fs::path& log) = 0;
  // Where `path`, absolute, is on the build host, links followed within the container; it need not exist.
  // Valid until the container goes or runs.
  virtual fs::path place_of(const std::string& path) = 0;
  // The changes against the parent, in overlayfs' form. Valid until the container is removed or runs again.
  virtual ChangedTree changes() = 0;
  // Keeps the container's state under the step's key so that children start from it at once. `read` reads the
  // tree of changes(), before it is removed or at the same time, on this thread. If it throws, nothing is
  // kept, and its exception is passed on.
  virtual void keep(const std::string& key, const std::function<void()>& read) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;
  virtual std::string version() = 0;
  // A container on `parent` (nullptr: empty). Imports the parent's layers from the blob store when the
  // engine's own store does not hold them. Errors: tool_missing, store.
  virtual std::unique_ptr<Container> start(const StepRecord* parent) = 0;
  // Takes containers and images that are not needed out of the engine's store. REQUIRES: no other process
  // uses it. Throws Error(store); what an engine could not take away, it does not trust the next time.
  virtual void forget(const std::vector<std::string>& containers, const std::vector<std::string>& images) = 0;
  // Fetches `reference` (docker://…, oci:…; without a transport docker://) into an OCI layout folder. Errors:
  // network; input when there is no such image; what the registry or the policy refuses is Error(network)
  // with a hint.
  virtual void pull(const std::string& reference, const fs::path& layout, const fs::path& log) = 0;
};

struct EngineSetup {
  CommandRunner& runner;
  FileSystem& files;
  fs::path store;                                  // the engine's private store
  fs::path blob_store;                             // kiln's, to import parents from
  std::map<std::string, std::string> environment;  // PATH, HOME, TMPDIR, REGISTRY_AUTH_FILE, proxies
  const Clock& clock;
  PullLimits pull_limits = {};
  std::function<void(const PullState&)> tell_pull = {};  // as Skopeo::tell
  std::string architecture{};                            // of pulled images; "": this machine's
};

// The name of steps' images in the storage of engines that have one. The tag is the step's key.
inline constexpr const char* kStepImages = "localhost/kiln";
std::string step_image(const std::string& key);

// Throws Error(tool_missing) in a bare chroot, with the remedy: buildah and container runtimes remount "/",
// which the kernel refuses where that is no mount point.
void need_mounted_root(const FileSystem& files);

// One of engine_names() (site/site.h). Throws Error(usage) for another.
std::unique_ptr<Engine> make_engine(const std::string& name, const EngineSetup& setup);

// The supported engines, with the facts that help an administrator to choose one. docs/site.md has the rest.
struct EngineFacts {
  std::string_view name;       // of the program, and in the site file
  std::string_view package;    // Debian's
  std::string_view least;      // version
  std::string_view isolation;  // the parts of the machine that a step shares
  std::string_view fault;      // known, and what kiln does about it; "" = none
  // Another program that does, where that is the only one; "" = none.
  std::string_view stand_in = "";
  // Engines of one family make the same bits of a step. "" = that of buildah, podman and docker, which are in
  // no key; keys contain the name of any other (ResolveInput).
  std::string_view family = "";
};

const std::vector<EngineFacts>& engine_facts();

// Of an engine that there is, else "".
std::string_view engine_family(std::string_view engine);

// The engine's program, or its replacement; nullopt if neither is installed.
std::optional<std::string> program_of(const EngineFacts& engine, const CommandRunner& runner);

// Throws Error(usage) for an unknown engine, and Error(tool_missing) for one that is not installed, with the
// remedy.
void need_engine(const std::string& name, const CommandRunner& runner);

}  // namespace kiln
