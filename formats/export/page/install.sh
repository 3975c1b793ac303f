#!/bin/sh
# install.sh SOURCE FOLDER OPTION…: installs into FOLDER what package-lock.json of the folder SOURCE names, by npm ci with
# the options, unless the same is there already.
set -eu
source=$1 folder=$2
shift 2
mkdir -p "$folder"
cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$source/build.js" "$folder"
cd "$folder"
cmp -s package-lock.json node_modules/installed && exit 0
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error "$@" >&2
cp package-lock.json node_modules/installed
