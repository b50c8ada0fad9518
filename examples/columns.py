"""columns.py - columns of a data frame, as they are: each row the first time its key occurs; counts; a file for others."""

import everbloom

rows = [("ann", 3), ("bob", 1), ("ann", 5), ("eve", 2), ("bob", 4)]
names, amounts = zip(*rows)

seen = everbloom.Filter("lru:memory=1M")
print("first rows:", [row for row, old in zip(rows, seen.add(list(names))) if not old])

totals = everbloom.Filter("spectral:memory=64K")
totals.update(list(names), value=list(amounts))
print("totals:", {name: int(totals.count(name)) for name in sorted(set(names))})

try:
    import numpy as np
except ImportError:
    pass
else:
    ids = np.array([7, 8, 7, 9])
    print("new ids:", ids[~everbloom.Filter("lru:memory=1M").add(ids)].tolist())

totals.save("totals.eb")  # everbloom test, C, Redis and SQL read it
print("ann in the file:", "ann" in everbloom.view("totals.eb"))
