// Documents that use every key of their format, for the tests of the readers and of the schemas.
#pragma once

#include <string>
#include <vector>

#include "support/fake_effects.h"

namespace kiln::testing {

inline const char* const kRecipeFile = "recipes/library/openblas/recipe.json";
inline const char* const kBaseFile = "recipes/base/debian/recipe.json";

// What is beside both of them, and some files that no recipe may name.
FakeFileSystem recipe_files();

// What schema/<name>.schema.json has against a document; comments are allowed.
std::vector<std::string> violations_of_schema(const std::string& name, const std::string& json);

inline const std::string kRecipe = R"({
  "$schema": "https://example.org/recipe.schema.json",
  "description": "OpenBLAS in place of the reference BLAS",
  "licenses": "BSD-3-Clause",
  "homepage": "https://www.openblas.net",
  // Not in order: the reader sorts.
  "versions": {
    "0.3.9": {},
    "0.3.29": {
      "facts": {"python": "3.13", "compiler": "gcc", "compiler_version": "14.2"},
      "source": {"url": "https://example.org/o.tar.gz",
                 "checksum": "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}
    }
  },
  "methods": {
    "distro": {
      "optimised": true,
      "versions": ">=0.3.10",
      "script": "distro.sh",
      "files": ["lists/packages.txt", {"file": "smoke.py", "when": {"version": "0.3.29"}}],
      "parameters": ["KILN_VERSION", "KILN_FACT_PYTHON", "KILN_FRAMEWORK_VERSION"],
      "needs": [{"kind": "toolchain", "name": "python", "version": ">=3.11"}, {"any": [{"kind": "library", "name": "mkl", "when": {"target": "*,nvidia*"}}, {"kind": "library", "name": "blis"}], "when": {"version": ">=0.3.20"}}],
      "after": ["framework", "python"],
      "environment": {"OPENBLAS_VERBOSE": "0"}
    },
    "source": { "files": [{"file": "smoke.py", "when": {"with": "toolchain/gcc@>=12 <15"}}],
      "build": {
        "needs": [{"kind": "toolchain", "name": "gcc"}],
        "script": "build.sh",
        "copy": ["/opt/kiln/openblas"]
      }
    }
  },
  "test": [{"script": "smoke.sh", "files": ["smoke.py"]}, {"script": "distro.sh", "when": {"target": "zen*", "version": "0.3.29"}}],
  "upstream": [{"pypi": "scipy-openblas", "versions": ">=0.3.9 <0.4"},
               {"git": "https://example.org/openblas.git", "tags": "v*"}]
}
)";

inline const std::string kBase = R"({
  "versions": {"trixie": {}},
  "methods": {
    "distro": {"rootfs": "rootfs.sh", "optimised": false, "versions": "*", "parameters": ["KILN_VERSION"]},
    "hub": {
      "image": "docker.io/library/debian:{version}",
      "script": "trim.sh", "files": [], "environment": {"LANG": ""}
    }
  }
}
)";

inline const std::string kMatrix = R"({
  "$schema": "https://example.org/matrix.schema.json",
  "name": "demo",
  "axes": {
    "framework": ["pytorch"],
    "version": ["2.6.0", ">=2.7 <2.9"],
    "method": ["distro", "pip"],
    "library": ["none", "openblas@0.3.29:distro", "mkl+openmpi"],
    "toolchain": "gcc",
    "compiler": ["none", "inductor"],
    "base": ["debian@trixie"],
    "distributed": "none",
    "workload": "none",
    "target": ["x86_64_v3", "x86_64_v3,nvidia:sm_80"]
  },
  "exclude": [{"library": "none", "compiler": "induc*"}, {"version": "<2.7", "method": "pip", "reason": "no wheels"}],
  "include": [{"framework": "pytorch", "distributed": "openmpi"}],
  "constraints": [
    {"if": {"compiler": "glow"}, "require": {"framework": "pytorch", "version": "<2"}, "reason": "glow ended"},
    {"if": {"framework": "jax", "framework.python": "<3.11"}, "forbid": {"base": "debian*"}, "reason": "too old"}
  ]
}
)";

inline const std::string kGroups = R"({
  "name": "all",
  "includes": ["demo.json"],
  "groups": [
    {"name": "cpu", "axes": {"framework": "jax"}, "exclude": [], "include": [{"target": "zen3"}]},
    {"name": "gpu", "axes": {"framework": ["jax", "pytorch"]}}
  ]
}
)";

inline const std::string kTarget =
    R"({"cpu": "broadwell", "accelerators": ["nvidia:sm_61"], "description": "the paper's testbed"})";

inline const std::string kSite = R"({
  "engine": "buildah", "layer_compression": "gzip",
  "launcher": ["srun", "-n1"], "scratch": "/local/scratch",
  "jobs": 2,
  "zstd_level": 9, "formats": ["oci"],
  "limits": {"wall": "6h", "silence": "45m", "log": "64MiB", "memory": "16GiB", "retries": 2, "components": {"framework/jax": {"memory": "64GiB", "wall": "12h"}}},
  "pass_environment": ["*_proxy", "PIP_*"],
  "ca_certificates": "/etc/ssl/certs/ca-certificates.crt",
  "pip_configuration": "/etc/pip.conf",
  "git_configuration": "/etc/gitconfig", "mirror": "/srv/kiln-mirror",
  "secrets": {"licence": "/etc/kiln/licence", "token": {"environment": "SITE_TOKEN"}}, "cache": {"folder": "/scratch/caches", "size": "50GiB"},
  "pull": {"wall": "2h", "stall": "90s", "retries": 3},
  "publish": {"registry": "registry.site:5000/ai", "key": "/etc/kiln/site.pem", "passphrase_file": "/etc/kiln/site.pass"},
  "nightly": {"update": {"bases": "each", "archives": "14d", "archspec": "never", "proposals": 5}}
}
)";

}  // namespace kiln::testing
