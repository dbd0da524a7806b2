#!/bin/sh -eu
git clone https://example.org/a
git clone https://example.org/b
git -C a checkout "$A_COMMIT"
git -C b checkout "$B_COMMIT"
