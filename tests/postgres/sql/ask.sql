-- Questions: one answer, one row of them, or many.
\set VERBOSITY terse
create table f as select
    (select evb_agg(i, 'bloom:distinct=1000,fpr=1e-6') from generate_series(1, 100::bigint) i) as bloom,
    (select evb_agg('key' || i % 10, 'spectral:memory=64K,update=plain') from generate_series(1, 100) i) as counts,
    (select evb_agg(i, 'dyadic:bits=10,memory=256K') from generate_series(0, 999::bigint) i) as numbers,
    (select evb_stream_agg('key' || i, 'top:memory=64K', 10 - i order by i) from generate_series(0, 9) i) as list;
select evb_has(bloom, 7::bigint), evb_has(bloom, '7'), evb_has(bloom, 7::int), evb_has(bloom, 'seven'), evb_has(bloom, null::text) from f;
select evb_count(counts, 'key3'), evb_count(counts, 'nobody'), (evb_estimate(counts, 'key3')).count,
       (evb_estimate(counts, 'key3')).lower <= 10 as lower, (evb_estimate(counts, 'key3')).upper >= 10 as upper from f;
select round((evb_sum(counts, array['key1', 'key2', 'nobody', null])).sum) as sum, round((evb_join_size(counts, counts)).size / 100) as hundreds from f;
select r.lower <= 100 and 100 <= r.upper as a_tenth, q.lower <= 499 and 499 <= q.upper as middle
    from f, evb_range(numbers, 100, 199) r, evb_quantile(numbers, 0.5) q;
select key, count, lower from f, evb_top(list, 3);
select key, count from f, evb_iceberg(list, 8);
select evb_info(bloom)->>'adds' as adds, evb_info(bloom)->>'new_keys' as new_keys, evb_info(bloom) ? 'spec' as spec from f;
select i from generate_series(1, 7) i where not evb_seen((i % 3)::text, 'bloom:memory=1K');
select kind from evb_plan(distinct_keys => 1e6, fpr => 0.01, parallel => true) limit 1;
select name, question, parallel from evb_kinds() order by name;
-- what cannot be asked
select evb_has(bloom, '\x37'::bytea) from f;
select evb_has(bloom, 1.5) from f;
select evb_count(bloom, 'a') from f;
select evb_range(bloom, 1, 2) from f;
select evb_quantile(numbers, 1.5) from f;
select evb_has(numbers, 5000::bigint) from f;
select * from f, evb_top(bloom, 3);
select * from f, evb_top(list, 0);
select key from evb_top((select evb_stream_agg('\xff'::bytea, 'top:memory=16K,keys=bytes')), 1); -- no text
select key from evb_top((select evb_stream_agg('m\303\274'::bytea, 'top:memory=16K,keys=bytes')), 1);
select evb_join_size(bloom, counts) from f;
select evb_merge(bloom, counts) from f;
select * from evb_plan(distinct_keys => 1e9, fpr => 1e-9, fnr => 1e-9, memory => 1000);
select evb_bloomjoin('f', 'k', 'f', 'k', condition => '; drop table f');
\pset format unaligned
select evb_bloomjoin('f', 'k', 'f', 'K');
select evb_bloomjoin('f', 'k', 'f', 'K', condition => '= 3');
select evb_bloomjoin('f', 'k', 'f', 'K', 'spectral:memory=1K,update=plain', '< 3');
