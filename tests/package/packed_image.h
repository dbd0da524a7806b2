// A planned image of two small layers, as real tars in a store: what the passes of package are tested with.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "evidence/compiled.h"
#include "factory/oci/blob_store.h"
#include "factory/resolve/resolve.h"
#include "support/tar_bytes.h"
#include "support/temporary_folder.h"

namespace kiln::testing {

inline constexpr std::int64_t kEpoch = 315532800;

inline const Microarchitectures& cpus() {
  static const Microarchitectures kCpus =
      Microarchitectures::parse(RealFileSystem().read(KILN_ARCHSPEC_JSON).value_or(""), KILN_ARCHSPEC_JSON);
  return kCpus;
}

// Machine code whose loop needs AVX-512.
inline std::string wide_code() {
  return evidence::testing::Compiler().shared(
      "void f(float* x, long n) { for (long i = 0; i < n; ++i) x[i] = x[i] * 3 + 1; }",
      "-O3 -march=skylake-avx512 -mprefer-vector-width=512");
}

class PackedImage : public ::testing::Test {
 protected:
  PackedImage() {
    ImageSpec& made = image;
    made.repository = "openblas";
    made.tag = "0.3-source";
    made.immutable_tag = "0.3-source-0123456789ab";
    made.key = std::string(64, 'c');
    made.request.id = "cell";
    made.target.cpu = "x86_64_v3";
    made.components = {{Kind::base, "debian", Version("13"), "rootfs"},
                       {Kind::library, "openblas", Version("0.3"), "source", true}};
    made.flags = {{"CFLAGS", "-O2 -march=haswell", "gcc 14.2.0", "haswell"}};
    made.stages = {{"image", {step('a', "base/debian"), step('b', "library/openblas")}}};
    add_layer("a", short_tar({"d etc/", "f etc/os-release=ID=debian\nVERSION_ID=\"13\"\n", "d var/",
                              "d var/lib/", "d var/lib/dpkg/",
                              "f var/lib/dpkg/status=Package: libc6\nStatus: install ok installed\n"
                              "Version: 2.41-12\nArchitecture: amd64\n"}));
  }

  static Step step(char key, const std::string& component) {
    Step step;
    step.key = std::string(64, key);
    step.component = component;
    step.title = component;
    step.version = "1";
    step.inputs = "{}";
    return step;
  }
  static std::string short_tar(const std::vector<std::string>& entries) {
    return kiln::testing::short_tar(entries);
  }
  // Of the step whose key is sixty-four times that letter.
  void add_layer(const std::string& key, const std::string& tar) {
    built.layers.push_back({store.put(tar, std::string(media_type::kLayerTar)), Digest::of(tar),
                            std::string(64, key[0]), "step " + key});
  }
  void add_library(const std::string& bytes) {
    add_layer("b", kiln::testing::tar({{"opt/libf.so", '0', bytes}}));
  }
  ImageSpec& spec() { return image; }

  TemporaryFolder folder;
  BlobStore store{folder / "store"};
  RealFileSystem files;
  ImageSpec image;
  LayerChain built;
};

}  // namespace kiln::testing
