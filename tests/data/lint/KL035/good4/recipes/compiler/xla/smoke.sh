#!/bin/sh -eu
python3 -c "import torch; assert torch"
