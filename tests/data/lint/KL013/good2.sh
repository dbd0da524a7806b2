#!/bin/sh -eu
conda install -y -c conda-forge numpy=1.26.4
conda clean -afy
