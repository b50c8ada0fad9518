-- The extension itself: marks of its functions, updating, removing.
\set VERBOSITY terse
-- what keeps a state cannot run in workers; everything else can, and gives the same answer for the same arguments
select distinct proname, provolatile, proparallel from pg_depend join pg_proc p on p.oid = objid
    where refobjid = (select oid from pg_extension where extname = 'everbloom') and deptype = 'e' and classid = 'pg_proc'::regclass
      and (provolatile <> 'i' or proparallel <> 's') order by 1;
create table kept as select evb_agg('a'::text, 'bloom:memory=1K') as f;
drop extension everbloom;
select extversion as before from pg_extension where extname = 'everbloom';
alter extension everbloom update to '0.1.0-test';
select extversion as after, evb_updated() from pg_extension where extname = 'everbloom';
select evb_has(f, 'a') from kept;
drop table kept;
create schema elsewhere;
create schema other;
drop extension everbloom cascade;
create extension everbloom schema elsewhere;
select elsewhere.evb_has(elsewhere.evb_agg('a'::text, 'bloom:memory=1K'), 'a');
select elsewhere.evb_bloomjoin('pg_class', 'oid', 'pg_class', 'oid') like '%elsewhere.evb_has%' as qualified;
alter extension everbloom set schema other;
