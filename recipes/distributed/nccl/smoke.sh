#!/bin/sh -eu
# PyTorch uses the NCCL asked for, and nothing else of that name is in the process.
exec "/opt/kiln/$KILN_FRAMEWORK_NAME/bin/python3" smoke.py
