#!/bin/sh
# Environment settings of this site may be added here.
