#!/bin/sh -eu
update-alternatives --config cuda
