-- The type evb: what goes in comes out, and nothing else goes in.
\set VERBOSITY sqlstate
create table filters (name text primary key, f evb);
insert into filters select 'bloom', evb_agg(i, 'bloom:distinct=1000,fpr=0.001') from generate_series(1, 1000::bigint) i;
insert into filters select 'copy', f::text::evb from filters;
select count(distinct f::bytea) from filters;
select f::bytea::evb::bytea = f::bytea as by_bytea from filters where name = 'copy';
select attstorage from pg_attribute where attrelid = 'filters'::regclass and attname = 'f';
select typsend, typreceive from pg_type where typname = 'evb';
select evb_send(f) = f::bytea as sent from filters where name = 'bloom';
-- what is no filter
select ''::evb;
select 'not base64!'::evb;
select 'AAAA'::evb;
select '\x00'::bytea::evb;
select overlay(f::bytea placing '\xffff' from 100)::evb from filters where name = 'bloom';
select substr(f::bytea, 1, 100)::evb from filters where name = 'bloom';
select (f::bytea || '\x00')::evb from filters where name = 'bloom';
select null::evb;
\set VERBOSITY terse
select 'not base64!'::evb;
select (f::bytea || '\x00')::evb from filters where name = 'bloom';
