#include "factory/collect/garbage.h"

#include "factory/base/enum_names.h"

namespace kiln {
namespace {

constexpr auto kOne = enum_names<GarbageKind>({{GarbageKind::snapshot, "snapshot"},
                                               {GarbageKind::published, "published image"},
                                               {GarbageKind::packaged, "packaged image"},
                                               {GarbageKind::plan, "plan"},
                                               {GarbageKind::test, "test"},
                                               {GarbageKind::step, "step"},
                                               {GarbageKind::failure, "failure"},
                                               {GarbageKind::conversion, "conversion"},
                                               {GarbageKind::layout, "layout"},
                                               {GarbageKind::sif_folder, "SIF folder"},
                                               {GarbageKind::blob, "blob"},
                                               {GarbageKind::log, "log"},
                                               {GarbageKind::cache, "cache file"},
                                               {GarbageKind::recipe, "recipe"},
                                               {GarbageKind::leaving, "leaving"},
                                               {GarbageKind::engine, "engine image"},
                                               {GarbageKind::pushed_tag, "registry tag"},
                                               {GarbageKind::pushed_index, "registry index"},
                                               {GarbageKind::pushed_image, "registry image"}});

}  // namespace

std::string_view name_of(GarbageKind kind) { return kOne.of(kind); }

}  // namespace kiln
