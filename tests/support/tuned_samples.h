// A setting that was measured, for tests.
#pragma once

#include "factory/record/tuned_record.h"

namespace kiln::testing {

// Of `key`: recommended, 1.2 times as fast on a host of two cores.
inline TunedRecord tuned_record(const Digest& manifest = Digest::of("m"), const std::string& key = "k") {
  TunedRecord record;
  record.image = "pytorch:2.6.0";
  record.manifest = manifest;
  record.key = key;
  record.workload = "mnist-cnn";
  record.workload_files = "f";
  record.host.cpu = "haswell";
  record.host.model = "Xeon A";
  record.host.cores = 2;
  record.settings = {{"OMP_NUM_THREADS", "1"}};
  record.recommended = true;
  record.text = "recommended";
  record.gain = {"", 1.2, 1.1, 1.3};
  record.rounds = 7;
  record.trials = 12;
  record.seed = 3;
  record.kiln = "0.1.0";
  record.taken = "2026-11-24T12:00:00Z";
  return record;
}

}  // namespace kiln::testing
