#!/usr/bin/env bash
# examples/choosing.sh COMMAND FOLDER - docs/CHOOSING.md with its plots, in FOLDER: every `predict --plot` of the page is
# drawn with --svg, and the picture stands below it.  Fails if a question has no plot.
set -eu
command=$(realpath "$1") folder=$2
page=$(dirname "$0")/../docs/CHOOSING.md
mkdir -p "$folder"
n=0 question='' plotted=yes
close() { [ $plotted = yes ] || { echo "CHOOSING.md: no plot below $question" >&2; exit 1; }; }
while IFS= read -r line; do
    case $line in
    '## "'*) close; question=$line plotted=no ;;
    '## '*) close; plotted=yes ;;
    esac
    printf '%s\n' "$line"
    case $line in
    '    everbloom predict --plot '*)
        n=$((n + 1)) plotted=yes
        read -ra words <<<"${line#*--plot}"
        "$command" predict --svg "$folder/$n.svg" "${words[@]}" >&2
        printf '\n![%s](%s.svg)\n' "${question#\#\# }" "$n"
        ;;
    esac
done <"$page" >"$folder/CHOOSING.md"
close
echo "$folder/CHOOSING.md, with $n plots"
