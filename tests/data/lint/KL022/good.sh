#!/bin/sh -eu
pip install --no-index dist/*.whl
