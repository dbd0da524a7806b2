#!/bin/sh -eu
# kiln-lint: ignore KL000 a rule that is none
make
