#!/bin/sh -eu
conda install -y numpy
conda clean -afy
