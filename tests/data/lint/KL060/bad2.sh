#!/bin/sh -eu
SALT=q7Zp2LxV9aTn4RkW8sYd3MfB6cHj1Eug
echo "$SALT"
