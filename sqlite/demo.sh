#!/bin/sh
# demo.sh EXTENSION: de-duplicates, counts and asks inside SQLite, on rows that it makes.
set -eu
sqlite3 -echo -column -header :memory: <<END
.load ${1%.so}
create table log(url text, ms integer);
with recursive c(i) as (select 1 union all select i + 1 from c where i < 100000)
  insert into log select '/page/' || (i * i % 9973), i % 250 from c;
-- a filter of a column: a value like any other
create table seen as select evb_agg(url, 'bloom:distinct=10000,fpr=0.001') as f from log;
select length(f) as bytes, evb_has(f, '/page/4') as page_4, evb_has(f, '/page/none') as none from seen;
-- each URL once, in one pass and fixed memory
select count(*) as new_urls from log where evb_new(url, 'lru:memory=1M');
-- the most frequent ones
select key, count from evb_top((select evb_agg(url, 'top:memory=64K') from log), 3);
END
