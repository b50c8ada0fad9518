# docs/FORMAT.md is enough to read our files: a reader written from it answers as the command does.
. "$EXPECT"
slow
python=/usr/bin/python3
$python -c 'import xxhash' 2>/dev/null || skip 'no Python with xxhash'
reader=${EXPECT%/*}/../format_reader.py

by_reader() { # by_reader NAME - answers about `asked` must be those in `want`
    $python "$reader" snapshot <asked >got || fail "$1: the reader stumbles"
    cmp -s want got || fail "$1:
$(diff want got | head)"
    [ "$(cut -f 1 want | sort -u | wc -l)" -gt 1 ] || fail "$1: all answers are alike"
}

answers() { # answers SPEC [OPTION...] - a filter of the keys, asked about them and others
    local spec=$1 kind=${1%%:*}
    shift
    "$EVERBLOOM" add --filter "$spec" -o snapshot "$@" keys >/dev/null 2>err || fail "$spec: $(cat err)"
    case $kind in
    spectral | spectral_rm | top)
        "$EVERBLOOM" count --snapshot snapshot --queries asked 2>err >columns || fail "$spec: $(cat err)"
        cut -f 1,6- columns >want ;;
    *) "$EVERBLOOM" test --mark snapshot asked >want ;;
    esac
    by_reader "$spec"
}

$python "$reader" "${EXPECT%/*}"/../golden/*.evb </dev/null || fail 'the reader refuses a golden file'

{ printf '%s\n' {1..3000} {2500..2900} {2700..2750} {2740..2750} {2745..2750}; } >keys
printf '%s\n' {2001..4000} >asked
for layout in parts one line; do answers "bloom:memory=2K,k=3,layout=$layout,seed=77"; done
answers bloom:limit=100,grow=2,fpr=0.1
answers bloom:limit=100,grow=2,fpr=0.1,layout=line
answers bloom:memory=2K,k=3,shards=4
answers bloom:memory=2K,k=3,hash=sip,keys=i64
printf '2\t%s\n' {900..1000} {3900..4000} >classes
printf '2\t3???\n' >rules
answers weighted:memory=2K,class_bits=3:5 --class-rules rules
answers weighted:memory=2K,class_bits=3:5 --classes classes
answers stable:memory=1K
answers importance:memory=1K,high=4000 -f 1 --importance-field 1
for kind in rsbf bsbf bsbfsd rlbsbf; do answers $kind:memory=1K,k=3; done
answers choosy:memory=1K,k=7,tolerance=-0.5
answers lru:memory=4K,print_bits=24
answers lru:memory=12K,print_bits=14
answers lru:memory=2K,print_bits=12
answers lru:memory=2K,bucket=word,print_bits=10
answers lru:memory=12K,keep=important,high=4000 -f 1 --importance-field 1
answers window:window=1000,fpr=0.01
answers window:window=1000,fpr=0.00001,refresh=yes
answers window:window=1000,fpr=0.1,mode=rotate
for store in wide u32 line; do
    answers spectral:memory=6K,store=$store
    answers spectral:memory=6K,store=$store,update=plain,span=128
done
answers spectral_rm:memory=10K
answers top:memory=6K
for spec in bits=14,top=6 bits=20,low=-5,keys=i64,hash=sip,shards=4 bits=12,top=12 bits=13,top=2; do
    "$EVERBLOOM" range --filter dyadic:memory=64K,$spec --save snapshot keys --from 1 --to 2 >out 2>err || fail "$(cat err)"
    sed 's/.*/&\t&/' asked >ranges
    "$EVERBLOOM" range --snapshot snapshot --ranges ranges | cut -f 1,4 >want
    by_reader dyadic:$spec
done

"$EVERBLOOM" count --filter spectral:memory=6K --save thawed --key 1 keys >out 2>err
"$EVERBLOOM" freeze -o snapshot thawed
"$EVERBLOOM" count --snapshot snapshot --queries asked | cut -f 1,6- >want
by_reader 'a frozen filter'
