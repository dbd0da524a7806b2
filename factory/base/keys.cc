#include "factory/base/keys.h"

namespace kiln {
namespace {

std::vector<std::string> with_reason(std::vector<std::string> keys) {
  keys.emplace_back("reason");
  return keys;
}

const std::vector<std::string>& site_keys() {
  static const std::vector<std::string> kKeys = {"engine",
                                                 "launcher",
                                                 "partition",
                                                 "jobs",
                                                 "layer_compression",
                                                 "zstd_level",
                                                 "formats",
                                                 "limits",
                                                 "pull",
                                                 "pass_environment",
                                                 "ca_certificates",
                                                 "pip_configuration",
                                                 "git_configuration",
                                                 "mirror",
                                                 "secrets",
                                                 "cache",
                                                 "evidence",
                                                 "builder",
                                                 "gc",
                                                 "nightly",
                                                 "publish",
                                                 "scratch",
                                                 "steps"};
  return kKeys;
}

KeyTable catalogue_table() {
  static const std::vector<std::string> kAxes = {
      "framework",   "version", "method",   "base",        "toolchain", "library", "compiler",
      "distributed", "runtime", "workload", "application", "target",    "optimise"};
  return {
      {"recipe",
       {"description", "licenses", "homepage", "role", "versions", "sources", "upstream", "methods", "test",
        "accept"}},
      {"recipe/accept", {"file", "reason", "method", "versions"}},
      {"recipe/version", {"facts", "source", "build_on"}},
      {"recipe/fact_source", {"of", "known", "from"}},
      {"recipe/source", {"url", "checksum"}},
      {"recipe/upstream", {"pypi", "git", "tags", "versions"}},
      {"recipe/method",
       {"optimised", "stock", "optimise", "versions", "script", "files", "parameters", "secrets", "cache",
        "needs", "after", "build", "environment", "limits"}},
      {"recipe/optimise", {"level", "lto", "pgo", "profile"}},
      {"recipe/base_method",
       {"optimised", "stock", "versions", "image", "rootfs", "archive", "site", "script", "files",
        "parameters", "secrets", "environment", "limits"}},
      {"recipe/limits", {"wall", "silence", "log", "memory"}},
      {"recipe/build", {"needs", "script", "copy", "mount", "secrets"}},
      {"recipe/file_when", {"file", "when"}},
      {"recipe/environment_value", {"value", "with"}},
      {"recipe/need", {"kind", "name", "version", "when"}},
      {"recipe/any_need", {"any", "when"}},
      {"recipe/when", {"version", "target"}},
      {"recipe/when_of_file", {"version", "target", "with"}},
      {"recipe/test", {"script", "files", "when"}},
      {"matrix", {"name", "includes", "axes", "groups", "exclude", "include", "constraints"}},
      {"matrix/group", {"name", "axes", "exclude", "include"}},
      {"matrix/axes", kAxes},
      {"matrix/cell", kAxes},
      {"matrix/excluded", with_reason(kAxes)},
      {"matrix/constraint", {"if", "require", "forbid", "reason"}},
      {"target", {"cpu", "accelerators", "description"}},
  };
}

KeyTable site_table() {
  return {
      {"site", site_keys()},
      {"site/launcher", {"slurm"}},
      {"site/slurm", {"arguments", "default", "partitions", "poll", "patience"}},
      {"site/slurm_place", {"partition", "arguments", "microarchitecture", "cpus", "memory", "time", "most"}},
      {"site/slurm_most", {"cpus", "memory", "time"}},
      {"site/limits", {"wall", "silence", "log", "memory", "retries", "components"}},
      {"site/component_limits", {"wall", "silence", "log", "memory"}},
      {"site/pull", {"wall", "stall", "retries"}},
      {"site/secret", {"environment"}},
      {"site/cache", {"folder", "size"}},
      {"site/nightly",
       {"every", "lease", "keep", "gate", "webhook", "command", "update", "remind", "metrics"}},
      {"site/gate", {"name", "cells"}},
      {"site/gc", {"keep_for", "keep_snapshots", "keep_steps_for", "keep", "registry"}},
      {"site/publish", {"registry", "key", "passphrase_file", "aliases"}},
      {"site/alias", {"name", "images"}},
      {"site/steps", {"registry", "folder", "private", "key", "passphrase_file", "trust", "keep_for"}},
      {"site/update", {"bases", "archives", "archspec", "proposals"}},
      {"suite", {"name", "rounds", "steps", "workloads"}},
      {"suite/workload", {"workload", "cells", "exclude", "rounds", "steps", "ranks", "data"}},
      {"network", {"name", "input", "batch", "samples", "seconds", "layers"}},
      {"network/input", {"channels", "side"}},
      {"network/convolution", {"type", "filters", "kernel", "side"}},
      {"network/pool", {"type", "side"}},
      {"network/add", {"type"}},
      {"network/dense", {"type", "outputs"}},
      {"network/block", {"repeat", "layers"}},
      {"space", {"variables"}},
      {"space/variable", {"values", "from", "to", "step"}},
      {"lock", {"lock", "archspec", "components"}},
      {"lock/entry", {"image", "digests", "archives", "floating", "source", "recipe", "since"}},
      {"lock/source", {"url", "checksum", "ref"}},
  };
}

}  // namespace

const KeyTable& key_table() {
  static const KeyTable kTable = [] {
    KeyTable all = catalogue_table();
    all.merge(site_table());
    return all;
  }();
  return kTable;
}

const std::vector<std::string>& keys_of(std::string_view object) { return key_table().find(object)->second; }

}  // namespace kiln
