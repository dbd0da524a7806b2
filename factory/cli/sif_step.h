// The SIF of a build: made from the layers in the store, and an attachment of the image.
#pragma once

#include <vector>

#include "image/records.h"
#include "image/state.h"
#include "plan/resolve.h"
#include "plan/site.h"
#include "registry/image_record.h"

namespace kiln {

class Invocation;

// Puts the image's SIF into the store, where the site wants one: read again whole before it is published, and
// not made twice from the same image with the same options. Throws Error(input) for damaged layers,
// Error(store) for a SIF that does not read back.
std::vector<Attachment> package_sif(const ImageSpec& spec, const StepRecord& last,
                                    const EvidenceRecord& evidence, Invocation& invocation);

// Images of <state>/built that lack a format which the site wants are to be packaged again. REQUIRES: the
// state's lock is held.
void repackage_for_formats(const Site& site, const StatePaths& state, FileSystem& files);
// False when the site wants more than what the images of <state>/built were packaged as: then lacks_format()
// knows which of them.
bool has_formats(const Site& site, const StatePaths& state, const FileSystem& files);
// True when the image whose record is the file `built` has no format that the site wants. Throws Error(input)
// for a damaged record.
bool lacks_format(const Site& site, const fs::path& built, const FileSystem& files);

}  // namespace kiln
