/* everbloom--0.1.0.sql - what `create extension everbloom` makes.  docs/SQL.md explains it. */
\echo Use "create extension everbloom" to load this file. \quit

-- A filter.  Values are up to 1 GB; they are not compressed, since filters do not compress.
create type evb;
create function evb_in(cstring) returns evb as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_out(evb) returns cstring as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_recv(internal) returns evb as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_send(evb) returns bytea as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create type evb (input = evb_in, output = evb_out, receive = evb_recv, send = evb_send,
                 internallength = variable, storage = external, alignment = int4);
create function evb(bytea) returns evb as 'MODULE_PATHNAME', 'evb_from_bytea' language c immutable strict parallel safe;
create cast (bytea as evb) with function evb(bytea);
create cast (evb as bytea) without function;

-- A spec of a filter that workers can make together.  The type refuses others when a query is parsed: before any row is
-- read, and whether or not there will be workers.
create type evb_parallel_spec;
create function evb_parallel_spec_in(cstring) returns evb_parallel_spec as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_parallel_spec_out(evb_parallel_spec) returns cstring as 'textout' language internal immutable strict parallel safe;
create type evb_parallel_spec (input = evb_parallel_spec_in, output = evb_parallel_spec_out, internallength = variable,
                               storage = extended, alignment = int4);
create cast (evb_parallel_spec as text) without function as implicit;
create cast (text as evb_parallel_spec) with inout as implicit;

-- The same for a filter that counts.  Counting filters that depend on the order get update=plain, so that workers can make them.
create type evb_count_spec;
create function evb_count_spec_in(cstring) returns evb_count_spec as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_count_spec_out(evb_count_spec) returns cstring as 'textout' language internal immutable strict parallel safe;
create type evb_count_spec (input = evb_count_spec_in, output = evb_count_spec_out, internallength = variable,
                            storage = extended, alignment = int4);
create cast (evb_count_spec as text) without function as implicit;
create cast (text as evb_count_spec) with inout as implicit;

-- Aggregates: states, and how workers' states become one.
create function evb_agg_final(internal) returns evb as 'MODULE_PATHNAME' language c immutable parallel safe;
create function evb_stream_agg_final(internal) returns evb as 'MODULE_PATHNAME' language c immutable parallel safe;
create function evb_agg_combine(internal, internal) returns internal as 'MODULE_PATHNAME' language c immutable parallel safe;
create function evb_agg_serial(internal) returns bytea as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_agg_deserial(bytea, internal) returns internal as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_merge_agg_step(internal, evb) returns internal as 'MODULE_PATHNAME' language c immutable parallel safe;
create aggregate evb_merge_agg(evb) (
    sfunc = evb_merge_agg_step, stype = internal, sspace = 1048576, finalfunc = evb_agg_final,
    combinefunc = evb_agg_combine, serialfunc = evb_agg_serial, deserialfunc = evb_agg_deserial, parallel = safe);

-- Everything that takes a key takes each of these types.
do $$
declare
    t text;
begin
    foreach t in array array['text', 'bytea', 'bigint', 'uuid', 'timestamp', 'timestamptz'] loop
        execute format('create function evb_agg_step(internal, %s, evb_parallel_spec) returns internal
            as ''MODULE_PATHNAME'' language c immutable parallel safe', t);
        execute format('create function evb_agg_step(internal, %s, evb_parallel_spec, bigint) returns internal
            as ''MODULE_PATHNAME'' language c immutable parallel safe', t);
        execute format('create aggregate evb_agg(%s, spec evb_parallel_spec) (
            sfunc = evb_agg_step, stype = internal, sspace = 1048576, finalfunc = evb_agg_final,
            combinefunc = evb_agg_combine, serialfunc = evb_agg_serial, deserialfunc = evb_agg_deserial,
            parallel = safe)', t);
        execute format('create aggregate evb_agg(%s, spec evb_parallel_spec, weight bigint) (
            sfunc = evb_agg_step, stype = internal, sspace = 1048576, finalfunc = evb_agg_final,
            combinefunc = evb_agg_combine, serialfunc = evb_agg_serial, deserialfunc = evb_agg_deserial,
            parallel = safe)', t);
        execute format('create function evb_count_agg_step(internal, %s, evb_count_spec) returns internal
            as ''MODULE_PATHNAME'', ''evb_agg_step'' language c immutable parallel safe', t);
        execute format('create function evb_count_agg_step(internal, %s, evb_count_spec, bigint) returns internal
            as ''MODULE_PATHNAME'', ''evb_agg_step'' language c immutable parallel safe', t);
        execute format('create aggregate evb_count_agg(%s, spec evb_count_spec) (
            sfunc = evb_count_agg_step, stype = internal, sspace = 1048576, finalfunc = evb_agg_final,
            combinefunc = evb_agg_combine, serialfunc = evb_agg_serial, deserialfunc = evb_agg_deserial,
            parallel = safe)', t);
        execute format('create aggregate evb_count_agg(%s, spec evb_count_spec, weight bigint) (
            sfunc = evb_count_agg_step, stype = internal, sspace = 1048576, finalfunc = evb_agg_final,
            combinefunc = evb_agg_combine, serialfunc = evb_agg_serial, deserialfunc = evb_agg_deserial,
            parallel = safe)', t);
        execute format('create function evb_stream_agg_step(internal, %s, text) returns internal
            as ''MODULE_PATHNAME'', ''evb_agg_step'' language c immutable parallel safe', t);
        execute format('create function evb_stream_agg_step(internal, %s, text, bigint) returns internal
            as ''MODULE_PATHNAME'', ''evb_agg_step'' language c immutable parallel safe', t);
        execute format('create function evb_stream_agg_step(internal, %s, text, bigint, timestamptz) returns internal
            as ''MODULE_PATHNAME'', ''evb_agg_step'' language c immutable parallel safe', t);
        execute format('create aggregate evb_stream_agg(%s, spec text) (
            sfunc = evb_stream_agg_step, stype = internal, sspace = 1048576, finalfunc = evb_stream_agg_final, parallel = safe)', t);
        execute format('create aggregate evb_stream_agg(%s, spec text, weight bigint) (
            sfunc = evb_stream_agg_step, stype = internal, sspace = 1048576, finalfunc = evb_stream_agg_final, parallel = safe)', t);
        execute format('create aggregate evb_stream_agg(%s, spec text, weight bigint, at timestamptz) (
            sfunc = evb_stream_agg_step, stype = internal, sspace = 1048576, finalfunc = evb_stream_agg_final, parallel = safe)', t);
        execute format('create function evb_has(evb, %s) returns boolean
            as ''MODULE_PATHNAME'' language c immutable strict parallel safe cost 10', t);
        execute format('create function evb_has(evb, %s, as_of timestamptz) returns boolean
            as ''MODULE_PATHNAME'' language c immutable strict parallel safe cost 10', t);
        execute format('create function evb_count(evb, %s) returns double precision
            as ''MODULE_PATHNAME'' language c immutable strict parallel safe cost 10', t);
        execute format('create function evb_count(evb, %s, as_of timestamptz) returns double precision
            as ''MODULE_PATHNAME'' language c immutable strict parallel safe cost 10', t);
        execute format('create function evb_estimate(evb, %s, out count double precision, out lower double precision,
            out upper double precision, out confidence double precision)
            as ''MODULE_PATHNAME'' language c immutable strict parallel safe cost 10', t);
        execute format('create function evb_sum(evb, keys %s[], out sum double precision, out error double precision,
            out median double precision, out upper double precision)
            as ''MODULE_PATHNAME'' language c immutable strict parallel safe cost 100', t);
        execute format('create function evb_seen(%s, spec text) returns boolean
            as ''MODULE_PATHNAME'' language c volatile strict parallel unsafe', t);
    end loop;
end $$;

create function evb_merge(evb, evb) returns evb as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_join_size(evb, evb, out size double precision, out error double precision, out upper double precision)
    as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_range(evb, low bigint, high bigint, out lower double precision, out upper double precision)
    as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_quantile(evb, q double precision, out value bigint, out lower bigint, out upper bigint)
    as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_info(evb) returns jsonb as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_top(evb, n bigint default 10) returns table (key text, count double precision, lower double precision, watermark double precision)
    as 'MODULE_PATHNAME' language c immutable strict parallel safe;
create function evb_iceberg(evb, at_least double precision)
    returns table (key text, count double precision, lower double precision, watermark double precision)
    as 'MODULE_PATHNAME' language c immutable strict parallel safe;
-- Filters for so many keys, best first; 0: not told, or no bound.  Without items, fpr bounds the rate once all keys are in; with
-- items, the mean over that many rows, at whose end it is fpr_at_end.
create function evb_plan(distinct_keys double precision default 0, fpr double precision default 0, fnr double precision default 0,
                         memory double precision default 0, items double precision default 0, parallel boolean default false)
    returns table (kind text, spec text, bytes double precision, fpr_mean double precision, fnr_mean double precision,
                   fpr_at_end double precision)
    as 'MODULE_PATHNAME' language c immutable strict parallel safe cost 1000000;
create function evb_kinds() returns table (name text, question text, summary text, paper text, parallel boolean)
    as 'MODULE_PATHNAME' language c immutable strict parallel safe;

-- Writes a Bloomjoin: rows of the remote table travel only if their key is probably in the local one.  With a
-- condition such as '>= 3' the filter counts, and only keys that occur so often here are fetched.
create function evb_bloomjoin(local regclass, local_key name, remote regclass, remote_key name,
                              spec text default null, condition text default null)
    returns text language plpgsql stable parallel safe as $$
begin
    if condition is not null and condition !~ '^\s*(>|>=|=|<)\s*[0-9]+\s*$' then
        raise exception 'condition must be >, >=, = or < and a number, such as ''>= 3'', not %', quote_literal(condition)
            using errcode = 'invalid_parameter_value';
    end if;
    spec := coalesce(spec, case when condition is null then 'bloom:distinct=1e6,fpr=0.001' else 'spectral:memory=8M,update=plain' end);
    if condition is null then
        return format('with evb_of as materialized (select @extschema@.evb_agg(%2$I, %5$L) as f from %1$s) '
            'select r.*, l.* from (select * from %3$s where @extschema@.evb_has((select f from evb_of), %4$I)) r '
            'join %1$s l on l.%2$I = r.%4$I', local, local_key, remote, remote_key, spec);
    end if;
    return format('with evb_of as materialized (select @extschema@.evb_agg(%2$I, %5$L) as f from %1$s) '
        'select r.* from (select * from %3$s where @extschema@.evb_has((select f from evb_of), %4$I) '
        'and @extschema@.evb_count((select f from evb_of), %4$I) %6$s) r '
        'where (select count(*) from %1$s l where l.%2$I = r.%4$I) %7$s',
        local, local_key, remote, remote_key, spec,
        -- Counts are never too low: for "=" and "<" the filter can only say that a key occurs too rarely.
        case when condition ~ '^\s*=' then regexp_replace(condition, '=', '>=') when condition ~ '^\s*<' then '> 0' else condition end,
        condition);
end $$;
