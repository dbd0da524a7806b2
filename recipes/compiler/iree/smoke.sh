#!/bin/sh -eu
# IREE compiled a model in this very run to machine code, for this machine and for the target, and the answer is right.
exec "/opt/kiln/$KILN_FRAMEWORK_NAME/bin/python3" smoke.py
