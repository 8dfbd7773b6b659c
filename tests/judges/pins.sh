# For scripts in this folder: what pins.txt says.

# Sets `registry`, `packages` (all, with their versions), and `package` and `version` of the first.
read_pin() {
    line="$(sed -n "s/^$1 *//p" pins.txt)"
    if [ -z "$line" ]; then
        echo "$1 is not in tests/judges/pins.txt" >&2
        exit 1
    fi
    registry="${line%% *}"
    packages="${line#"$registry" }"
    first="$(echo $packages | cut -d ' ' -f 1)"
    package="${first%@*}"
    version="${first##*@}"
}

# write_package <folder>: a package.json there that depends on `packages`.
write_package() {
    {
        printf '{ "name": "judge", "private": true, "dependencies": {'
        comma=""
        for one in $packages; do
            printf '%s "%s": "%s"' "$comma" "${one%@*}" "${one##*@}"
            comma=","
        done
        echo ' } }'
    } >"$1/package.json"
}
