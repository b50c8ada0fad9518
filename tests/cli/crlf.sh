# A carriage return is a byte of the line: kept, and part of the key.
. "$EXPECT"
everbloom dedup < <(printf 'a\r\na\na\r\nb\r\n')
status_is 0; out_is 'a\r\na\nb\r\n'
# In CSV it belongs to the line end, so the last field is the same with and without.
everbloom dedup --csv -f 2 < <(printf '1,x\r\n2,x\n3,"x"\r\n4,y\r\n')
out_is '1,x\r\n4,y\r\n'
