// Remarks and troubles of a night, and from them its state and exit code. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "factory/night/night.h"
#include "factory/plan/lock_update.h"
#include "factory/run/build.h"

namespace kiln {

// A clock that went back, and nights that did not run. `last`: when the night before began, 0 = there was
// none; `every`: seconds from one night to the next, 0 = unknown.
std::vector<std::string> remarks_on_time(std::int64_t now, std::int64_t last, std::int64_t every);

// Says that bases move from night to night, because no lockfile pins them; "" if all that is needed is
// pinned. `matrix`: its file.
std::string floating_remark(const LockNeeds& needs, const std::string& matrix);

// A trouble for each tag and each alias that publishing left unchanged, so that another tag is news.
std::vector<NightTrouble> tag_troubles(const std::vector<std::string>& foreign,
                                       const std::vector<std::string>& unclear);

// One trouble for all that a registry has lost, and that could not be pushed again. REQUIRES: there is some.
NightTrouble lost_trouble(const std::vector<std::string>& lost, const std::string& registry);

// What a registry had lost, and was pushed again; beyond 20 they are counted.
std::vector<std::string> mended_remarks(const std::vector<std::string>& mended);

// One trouble for all records of a night whose signature does not match. REQUIRES: there is one.
NightTrouble forged_trouble(const std::vector<ForgedStep>& forged);

// For a derived application that is not built, because its record or its recipes are damaged.
NightTrouble derivation_trouble(const Error& damage);

// Judges the troubles, and sets state, exit code and last_green by what is in the report. `before`: the
// troubles of the night before. A second call changes nothing. REQUIRES: `ended` is set.
void settle(NightReport& report, const std::vector<NightTrouble>& before);

}  // namespace kiln
