// A record in two parts, each equal in many images: what a question chooses an image by, and what decides
// where it runs. An index keeps each once, and selection judges each once. Pure.
#pragma once

#include "factory/record/image_record.h"

namespace kiln {

// Each is a record of which the rest is missing, but for `manifest`, which is not the image's: its being
// there says that the image was built here.

// Nothing but whether it was built here.
ImageRecord bare_profile(bool external);
// Application, version, method, optimised, components, selectors, and whether it was tested and on what kinds
// of machines (test_kinds()), not by what.
ImageRecord choice_profile(const ImageRecord& image);
// Targets, what is needed of a host, what of the evidence may refuse one, and whether there is a SIF. Files
// that show a finding are left out: they differ, and only an explanation names them.
ImageRecord host_profile(const ImageRecord& image);

}  // namespace kiln
