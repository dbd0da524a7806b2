#!/bin/sh -eu
conda install -y numpy=1.26.4
