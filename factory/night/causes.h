// Which failures are one, and what their cells have in common. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/night/night.h"

namespace kiln {

// The failed and unplanned images, those of one cause together: their ends differ in no more than numbers,
// digests, paths and their own names, or one script of one component and method ended in the same way. The
// largest group first, then by words.
std::vector<FailureGroup> group_failures(const std::vector<NightImage>& images);

// The message without the parts that differ from image to image: "exit status #: curl: (#) …".
std::string signature_of(std::string_view what);

// Trouble of a night itself: from an error to a cause and an actor, as verdict.h does it for an image. Pure.

// Its cause by the error's code and words, and the words themselves. `subject`: as NightTrouble has it.
// `site_file`: errors of this file are the site's to mend; "" = there is none.
NightTrouble trouble_of(const Error& error, const std::string& subject, std::string_view site_file);

// Sets `since`, and actor and advice unless the trouble has an advice already. `before`: the troubles of the
// night before. `night`: the number of this one.
void judge(NightTrouble& trouble, const std::vector<NightTrouble>& before, std::int64_t night);

// The part of a trouble that stays equal from night to night: without numbers, digests and paths.
std::string identity_of(const NightTrouble& trouble);

// Adds it unless the report has one of the same identity.
void add_trouble(NightReport& report, NightTrouble trouble);

}  // namespace kiln
