#!/bin/sh
# Writes a slim Debian bookworm, made of its packages alone, to standard output as a tar: a base
# for both images where no image hub can be reached. Needs root and debootstrap.
#
#     sh docker/base.sh | docker import - recollect-base
set -eu
umask 022
root=$(mktemp --directory)
trap 'rm -rf --one-file-system "$root"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 0755 "$root"

mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
debootstrap --variant=minbase bookworm "$root" "$mirror" >&2
cat >"$root/etc/apt/sources.list" <<LIST
deb $mirror bookworm main
deb $mirror bookworm-updates main
deb ${DEBIAN_SECURITY_MIRROR:-http://deb.debian.org/debian-security} bookworm-security main
LIST

# As in Debian's own slim images: no documentation and no translations, now and later.
cat >"$root/etc/dpkg/dpkg.cfg.d/slim" <<LIST
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
LIST
find "$root/usr/share/doc" -type f ! -name copyright -delete
cd "$root"
rm -rf usr/share/info/* usr/share/locale/* usr/share/man/* \
    var/cache/apt/*.bin var/cache/apt/archives/*.deb var/lib/apt/lists/* var/log/*.log
tar --create --numeric-owner --one-file-system .
