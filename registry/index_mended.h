// How Index goes on when it meets damage.
#pragma once

#include "registry/recovery.h"

namespace kiln {

template <typename Action>
auto Index::mended(Action action) const {
  try {
    return action();
  } catch (const DamagedDatabase&) {
    if (state_->access != Database::Access::write) throw;
  }
  const std::filesystem::path folder = state_->folder;
  state_.reset();
  state_ = reconcile_or_make_again(folder);
  return action();
}

}  // namespace kiln
