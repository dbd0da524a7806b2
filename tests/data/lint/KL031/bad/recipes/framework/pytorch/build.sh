#!/bin/sh -eu
make
