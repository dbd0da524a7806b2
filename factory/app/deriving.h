// The course of `kiln derive`: which name and which images an application may have, which cells it adds to
// its matrix, and what stays recorded of it. The state folder's part of it is in derive/derivation.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/app/catalogue.h"
#include "factory/derive/derivation.h"
#include "factory/record/image_record.h"
#include "factory/run/build.h"
#include "factory/state/state_names.h"
#include "registry/index/index.h"

namespace kiln {

// Effects of a derivation on catalogue, index, containers and terminal.
class DerivingParts {
 public:
  virtual ~DerivingParts() = default;

  // The matrix without derived images.
  virtual Catalogue plain() = 0;
  // The matrix with its derived images, and with those of `tried` in place of the recorded ones of its name;
  // null: as they are recorded.
  virtual Catalogue with_derived(const Derivation* tried) = 0;
  // The entries of the current snapshot; none without an index.
  virtual std::vector<IndexEntry> entries() = 0;
  virtual std::vector<IndexEntry> entries_of(const std::string& application) = 0;
  virtual std::vector<TagSpan> history(const ImageRecord& image) = 0;  // of its tag
  // The image that kiln built. nullopt for all else. Throws Error(no_match) for a name that no image has.
  virtual std::optional<ImageRecord> find(const std::string& image) = 0;
  virtual BuildReport build(const Catalogue& catalogue, const ImageNumbers& images) = 0;
  virtual void note(const std::string& line) = 0;
};

struct DerivingRequest {
  std::string name;                 // of the application
  std::string matrix;               // its file, as the user named it
  std::vector<std::string> images;  // parents, as the user named them
  // The parents of an earlier derivation of this name stay, in addition to the new ones.
  bool keeps_parents = false;
};

// The result of a derivation: the matrix with its cells, and those.
struct Derived {
  Catalogue catalogue;
  ImageNumbers images{};
  BuildReport report{};
};

class Deriver {
 public:
  // REQUIRES: all but the inputs outlive this.
  Deriver(const DerivingRequest& request, const ApplicationInputs& inputs, const StatePaths& state,
          FileSystem& files, DerivingParts& parts);

  // Finds the parents, by the recipes of now. Throws Error(usage) for a name that something else has and for
  // a derived parent; Error(no_match) for a retired parent, and for one that kiln has not built.
  void prepare();
  // The record of the one image, if an earlier derivation of these files built and published it. Throws
  // Error(no_match) for a retired one. REQUIRES: prepare(), and one parent.
  std::optional<ImageRecord> known();
  // Builds, and records the derivation if all of its images are whole. Throws as DerivingParts::build();
  // Error(no_match) for retired bits, with keeps_parents. REQUIRES: prepare(); the state folder is
  // locked.
  Derived derive();
  // Throws Error(no_match) if the index has these bits as a retired image.
  void refuse_retired_image(const std::string& key);

 private:
  std::optional<IndexEntry> published_entry(const std::string& application, const std::string& key);
  AxisValues parent(const std::string& image, const Catalogue& catalogue, StateNames& names);
  void refuse_other_matrix() const;
  void add_known_parents(Derivation& derivation);
  void refuse_retired_bits(const Derived& derived);
  void refuse_unbuildable(const Derived& derived) const;
  void tell_failed(const Derived& derived);

  const DerivingRequest& request_;
  const StatePaths& state_;
  FileSystem& files_;
  DerivingParts& parts_;
  const DerivedStore store_;
  const RecipeTexts recipes_;
  Derivation derivation_;  // upon the parents that were asked for
};

}  // namespace kiln
