-- Aggregates: keys of all types, weights, times, workers, merging.
\set VERBOSITY terse
create table calls (who text, n bigint, small int, id uuid, raw bytea, at timestamptz, local timestamp, secs bigint);
insert into calls select 'user' || i % 10, i % 10, i % 10, md5((i % 10)::text)::uuid, decode(lpad(to_hex(i % 10), 2, '0'), 'hex'),
    '2026-01-01T00:00:00Z'::timestamptz + i * interval '1 s', '2026-01-01'::timestamp + i % 10 * interval '1 s', i from generate_series(1, 100) i;
insert into calls default values; -- NULL is no key
create function adds(f evb) returns text language sql as $$ select f->>'adds' from (select evb_info($1) as f) x $$;

-- one key has one text, whatever its type
with f as (select evb_agg(n, 'bloom:distinct=100,fpr=1e-6') as n, evb_agg(small, 'bloom:distinct=100,fpr=1e-6') as small,
                  evb_agg(n::text, 'bloom:distinct=100,fpr=1e-6') as words from calls)
    select adds(n), n::bytea = small::bytea as int_is_bigint, n::bytea = words::bytea as number_is_text from f;
select evb_has(evb_agg(id, 'bloom:distinct=100,fpr=1e-6'), md5('7')) as hyphens_count,
       evb_has(evb_agg(id, 'bloom:distinct=100,fpr=1e-6'), md5('7')::uuid::text) as uuid_is_text,
       evb_has(evb_agg(raw, 'bloom:distinct=100,fpr=1e-6,keys=bytes'), '\x07'::bytea) as bytea,
       evb_has(evb_agg(at, 'bloom:distinct=1000,fpr=1e-6'), '2026-01-01T00:00:07Z') as timestamptz_is_text,
       evb_has(evb_agg(local, 'bloom:distinct=1000,fpr=1e-6'), '2026-01-01T00:00:07') as timestamp_is_text,
       evb_has(evb_agg(at, 'bloom:distinct=1000,fpr=1e-6,keys=i64'), 1767225607000000) as microseconds from calls;
set timezone = 'Asia/Tokyo'; -- does not change a key
select evb_has(evb_agg(at, 'bloom:distinct=1000,fpr=1e-6'), '2026-01-01T00:00:07Z') as any_zone from calls;
reset timezone;

-- weights
select evb_count(evb_agg(who, 'spectral:memory=64K,update=plain'), 'user3') as times,
       evb_count(evb_agg(who, 'spectral:memory=64K,update=plain', secs), 'user3') as seconds from calls;
select evb_agg(who, 'spectral:memory=64K,update=plain', -secs) from calls;
select evb_count(evb_agg(who, 'spectral:memory=64K,update=plain', null), 'user3') as null_is_one from calls;

-- the order of rows, and times
select evb_count(evb_stream_agg(who, 'spectral:memory=64K' order by at), 'user3') as conservative from calls;
with f as (select evb_stream_agg(who, 'window:window=5000,unit=time,memory=64K', 1, at order by at) as f from calls where at is not null)
    select evb_has(f, 'user9') as a_second_ago, evb_has(f, 'user4') as six_seconds_ago, evb_has(f, 'user9', '2026-01-01T00:02:00Z') as later from f;
select evb_stream_agg(who, 'window:window=5000,unit=time,memory=64K', 1, at order by at) from (select 'a', null::timestamptz) x(who, at);
select evb_stream_agg('a'::text, 'window:window=5000,unit=time,memory=64K', 1, '1969-01-01Z');

-- no rows make no filter; neither do keys that are all NULL make one that holds something
select evb_agg(who, 'bloom:memory=1K') is null as nothing from calls where false;
select adds(evb_agg(who, 'bloom:memory=1K')) as none from calls where who is null;

-- specs
select evb_agg(who, 'lru:memory=1K') from calls;
select evb_agg(who, 'blom:memory=1K') from calls;
select evb_agg(who, 'bloom:memory=2G') from calls;
select evb_agg(who, null) from calls;
select evb_stream_agg(who, 'dyadic:bits=16,memory=64K') from calls;

-- workers make the same bytes
create table big as select i::bigint % 5000 as k from generate_series(1, 50000) i;
analyze big;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set min_parallel_table_scan_size = 0;
set max_parallel_workers_per_gather = 2;
explain (costs off) select evb_agg(k, 'bloom:distinct=5000,fpr=0.01') from big;
create temp table made as select evb_agg(k, 'bloom:distinct=5000,fpr=0.01') as f from big;
set max_parallel_workers_per_gather = 0;
insert into made select evb_agg(k, 'bloom:distinct=5000,fpr=0.01') from big;
explain (costs off) select evb_stream_agg(k, 'bloom:distinct=5000,fpr=0.01' order by k) from big;
-- merging parts makes them, too
insert into made select evb_merge_agg(f) from (select evb_agg(k, 'bloom:distinct=5000,fpr=0.01') as f from big group by k % 3) x;
select count(*), count(distinct f::bytea) as different from made;
select evb_merge(evb_agg(1::bigint, 'bloom:memory=1K,seed=1'), evb_agg(1::bigint, 'bloom:memory=1K,seed=2'));
select k, evb_has((select evb_merge(evb_agg('a'::text, 'bloom:memory=1K'), evb_agg('b'::text, 'bloom:memory=1K'))), k) as merged
    from (values ('a'), ('b'), ('c')) x(k);
-- as a window function
select n, adds(evb_agg(n, 'bloom:memory=1K') over (order by n)) from generate_series(1, 3::bigint) n;
