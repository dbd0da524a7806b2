#!/bin/sh -eu
gcc --version
