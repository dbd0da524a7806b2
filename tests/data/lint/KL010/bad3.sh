#!/bin/sh -eu
git clone https://example.org/a && git -C a checkout 7f73f1d591afba823daa4a99a939217fb54d7688
git clone https://example.org/b
