#!/bin/sh -eu
export API_KEY=correct-horse-battery
make
