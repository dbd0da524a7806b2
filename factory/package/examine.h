// The first pass: what is inside the layers, in one reading of them.
#pragma once

#include <string>

#include "factory/cpu/microarchitecture.h"
#include "factory/evidence/evidence.h"
#include "factory/oci/blob_store.h"
#include "factory/record/image_record.h"
#include "factory/resolve/resolve.h"
#include "factory/sbom/inventory.h"

namespace kiln {

class KeptContents;
class KeptLayers;

struct Examination {
  const Microarchitectures& cpus;
  unsigned jobs = 1;                      // scanning threads
  evidence::FactsCache* cache = nullptr;  // null: every file is read anew
  KeptContents* kept = nullptr;           // null: the layers are read though equal ones were
  KeptLayers* layers = nullptr;           // null: no kept entries of other images' layers are used
};

struct Contents {
  EvidenceRecord evidence;
  sbom::Inventory inventory;
  std::string table;   // the evidence for people
  std::string excess;  // "code exceeds the target …"; "" when it does not
};

// Reads the layers, each once for all images that have it, and judges them by what the spec declares, once
// for all cells of equal layers that declare the same. The whole report becomes a blob of the store. Throws
// Error(input) for damaged layers.
Contents examine(const ImageSpec& spec, const LayerChain& built, const BlobStore& store,
                 const Examination& how);

// The declaration in an image's labels; of another target, if `target` is not empty.
evidence::Declaration declared_by(const ImageConfig& config, const std::string& target);

// Throws Error(images_failed) when the code exceeds the declared target.
void refuse_excess(const Contents& contents);

}  // namespace kiln
