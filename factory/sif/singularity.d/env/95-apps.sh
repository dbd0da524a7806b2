#!/bin/sh
app=${APPTAINER_APPNAME:-${SINGULARITY_APPNAME:-}}
if [ -n "$app" ]; then
    if [ ! -d "/scif/apps/$app" ]; then
        echo "Could not locate the container application: $app"
        exit 1
    fi
    SCIF_APPS=/scif/apps
    SCIF_APPROOT=/scif/apps/$app
    PATH=$SCIF_APPROOT/bin:$SCIF_APPROOT:$PATH
    LD_LIBRARY_PATH=$SCIF_APPROOT/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export SCIF_APPS SCIF_APPROOT PATH LD_LIBRARY_PATH
    for file in "$SCIF_APPROOT/scif/env/01-base.sh" "$SCIF_APPROOT/scif/env/90-environment.sh"; do
        if [ -f "$file" ]; then . "$file"; fi
    done
fi
unset app
