#!/bin/sh -eu
make install
