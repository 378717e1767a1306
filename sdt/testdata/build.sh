#!/bin/sh
# Rebuilds testdata/elf, the small ELF files that FuzzRead starts from.
set -eu
cd "$(dirname "$0")"
flags="-O2 -nostdlib -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none
	-Wl,-z,noseparate-code,-z,max-page-size=4096,-z,norelro"
gcc $flags -no-pie -static -o elf/exec64 tiny.c
gcc $flags -fPIE -pie -s -o elf/stripped64 tiny.c
gcc $flags -m32 -idirafter "/usr/include/$(gcc -print-multiarch)" -no-pie -static -o elf/exec32 tiny.c
gcc $flags -c -o elf/object64 tiny.c
