#!/bin/sh
# Makes the packages that are published of what the platforms have built, in artifacts/: one for each platform in npm/, and
# this folder's own, which names them as optional dependencies. With --partial, only of those platforms that are there.
set -eu
cd "$(dirname "$0")"
built=artifacts/bindings-x86_64-unknown-linux-gnu
cp "$built/index.js" "$built/native.js" "$built/signatures.js" "$built/index.d.ts" .
cp -R "$built/types" .
rm -rf npm
version="$(npm pkg get version | tr -d '"')"
napi create-npm-dirs
for package in npm/*; do
    file="$(sed -n 's/.*"main": "\(.*\)".*/\1/p' "$package/package.json")"
    found="$(find artifacts -name "$file")"
    if [ -n "$found" ]; then
        cp "$found" "$package/"
        npm pkg set "optionalDependencies.leafline-$(basename "$package")=$version"
    elif [ "${1:-}" = --partial ]; then
        rm -r "$package"
    else
        echo "packages.sh: nothing has built $file" >&2
        exit 1
    fi
done
