#!/bin/sh
# Writes the lock files of programs that pins.txt names: `tests/judges/lock.sh pi-1.6 codex`.
set -eu
cd "$(dirname "$0")"
. ./pins.sh

for name in "$@"; do
    read_pin "$name"
    new="$(mktemp -d)"
    case "$registry" in
        npm)
            write_package "$new"
            (cd "$new" && npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund --loglevel=error)
            mv "$new/package-lock.json" "locks/$name.json"
            ;;
        pip)
            python3 -m pip --quiet install --dry-run --no-deps --only-binary :all: --target "$new" --report "$new/report.json" \
                "$package==$version"
            python3 - "$new/report.json" >"locks/$name.txt" <<'END'
import json, sys

for it in json.load(open(sys.argv[1]))["install"]:
    name, version = it["metadata"]["name"], it["metadata"]["version"]
    print(f"{name}=={version} --hash=sha256:{it['download_info']['archive_info']['hashes']['sha256']}")
END
            ;;
    esac
    rm -rf "$new"
done
