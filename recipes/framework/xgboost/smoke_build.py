"""The XGBoost that Python loads was compiled in the build stage: for the glibc of this image, where the project's wheel is for an older one,
and with OpenMP."""
import os
import sys

import xgboost

about = xgboost.build_info()
built, here = ".".join(str(part) for part in about["GLIBC_VERSION"]), os.confstr("CS_GNU_LIBC_VERSION").split()[1]
if built != here:
    sys.exit(f"XGBoost was compiled for glibc {built}, and the image has {here}")
if not about["USE_OPENMP"]:
    sys.exit("XGBoost was compiled without OpenMP")
