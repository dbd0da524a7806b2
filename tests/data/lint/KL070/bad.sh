cd $KILN_PREFIX
rm -rf $KILN_PREFIX/lib/*
