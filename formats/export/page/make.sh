#!/bin/sh
# make.sh SOURCE KERNEL CUBATURE FOLDER OUTPUT needed|wanted: builds the template of the page from the folder SOURCE, kernel.wasm
# and cubature.wasm, with what npm installs into FOLDER, and writes it as a string literal of C. Where npm cannot install that, as without a
# network, it fails if the page is needed, else the literal is empty: simexport then says that this build has no page.
set -eu
source=$1 kernel=$2 cubature=$3 folder=$4 output=$5

if said=$(sh "$source/install.sh" "$source" "$folder" --omit=dev 2>&1); then
    node "$folder/build.js" "$source" "$kernel" "$cubature" "$folder/page.html"
    # "??=" and others are trigraphs of C
    sed -f "$source/../source/literal.sed" "$folder/page.html" | sed 's/?/\\?/g' >"$output"
elif [ "$6" = needed ]; then
    printf '%s\npage: npm could not install what builds the page\n' "$said" >&2
    exit 1
else
    echo "page: npm could not install what builds the page: simexport will write none. Remove $output to try again." >&2
    echo '""' >"$output"
fi
