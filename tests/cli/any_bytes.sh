# Every byte value passes through unchanged (byte 10 makes an empty line and one more).
. "$EXPECT"
for i in {0..255}; do printf "\\x$(printf %x "$i")line\n"; done >all
everbloom dedup -m 1M all
status_is 0
same out all
