// Decides which records of steps are trusted. A record whose blob is missing, cut or damaged is invalid: kiln
// removes it, so that ninja runs the step again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "factory/oci/blob_store.h"
#include "factory/plan/build_plan.h"
#include "factory/state/state.h"

namespace kiln {

// The steps of these images whose records name a layer that is missing or has another size. With
// `whole_chain`, also if that is a layer of the steps below: those ran again and made other bits, which their
// records name. And the tests whose records cannot be read.
std::vector<std::string> damaged_steps(const BuildPlan& plan, const ImageNumbers& images,
                                       const StatePaths& state, const FileSystem& files, bool whole_chain);

// Whether a step that damaged_steps() named is good by now: its record is missing, or whole.
bool is_undamaged(const std::string& key, const StatePaths& state, const FileSystem& files, bool whole_chain);

// "layer 2, sha256:…, is missing": the first that is missing or has another size; "" if there is no such
// layer.
std::string seen_damage(const LayerChain& chain, const BlobStore& store);

// Reads the layers, and removes those that do not have the written bytes. Returns the removed ones, as "layer
// 2, sha256:…, does not have the bytes that were written"; "" if all are intact. For a caller that could not
// use one of them. Throws Error(store) when one cannot be read.
std::string take_damaged_layers(const LayerChain& chain, const BlobStore& store);

// Times of records, which ninja looks at.

// Gives the records of steps, tests and images the present time where theirs is before 1970, as after a
// restore from an archive or on a machine whose clock was wrong: ninja takes such a time for an error and
// does not say of which file. Returns how many. Throws Error(store).
std::size_t renew_record_times(const StatePaths& state);

}  // namespace kiln
