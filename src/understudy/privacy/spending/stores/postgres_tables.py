"""The SQL that makes a ledger in PostgreSQL: tables, triggers, and what roles may do.

Rows are only appended: nobody is granted more, and triggers on each row refuse the rest, also to
the owner. A trigger also checks what the program promises: each entry follows the one before it, a
limit is set by a steward, a run is opened once, nothing is charged to a run that was closed, no
amount is below 0, every entry says what readers need, and a run is closed for no less than its
charges add up to.
"""

from __future__ import annotations

from collections.abc import Sequence

SCHEMA = "understudy_ledger"

# Exact fractions are compared after rounding to so many digits, always in favour of an honest
# client, so that a sum of a million charges is off by less than 1e-30.
_TABLES = r"""
BEGIN;
-- Here and in each function: no object of another role takes the place of one of the server's.
SET LOCAL search_path = pg_catalog, pg_temp;
CREATE SCHEMA IF NOT EXISTS understudy_ledger;
-- Whoever made the schema or something in it first could change the ledger at any time. A superuser
-- has the rights of every role, so that its own name counts alone.
DO $$ BEGIN
    IF EXISTS (
        SELECT FROM pg_roles AS own, (
            SELECT nspowner FROM pg_namespace WHERE nspname = 'understudy_ledger'
            UNION SELECT relowner FROM pg_class
                WHERE relnamespace = 'understudy_ledger'::regnamespace
            UNION SELECT proowner FROM pg_proc
                WHERE pronamespace = 'understudy_ledger'::regnamespace) AS made (owner)
        WHERE own.rolname = current_user AND made.owner <> own.oid
            AND (own.rolsuper OR NOT pg_has_role(own.oid, made.owner, 'USAGE'))) THEN
        RAISE EXCEPTION USING ERRCODE = 'UL009',
            MESSAGE = 'the schema understudy_ledger, or a part of it, belongs to another role';
    END IF;
END $$;

CREATE TABLE IF NOT EXISTS understudy_ledger.entries (
    number bigint PRIMARY KEY,
    body text NOT NULL,
    "check" text NOT NULL,
    entry text NOT NULL DEFAULT '',
    run text,
    written_by name NOT NULL DEFAULT session_user
);
CREATE INDEX IF NOT EXISTS entries_of_run ON understudy_ledger.entries (run, number);
CREATE UNIQUE INDEX IF NOT EXISTS a_run_is_opened_once
    ON understudy_ledger.entries (run) WHERE entry = 'grant';
CREATE UNIQUE INDEX IF NOT EXISTS a_run_is_closed_once
    ON understudy_ledger.entries (run) WHERE entry = 'close';

CREATE TABLE IF NOT EXISTS understudy_ledger.secret (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    digits text NOT NULL CHECK (digits ~ '^[0-9a-f]{64}$')
);
INSERT INTO understudy_ledger.secret (digits)
    SELECT replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')
    ON CONFLICT DO NOTHING;

-- Whoever may call it may set limits; it does nothing.
CREATE OR REPLACE FUNCTION understudy_ledger.may_set_limits() RETURNS void
    LANGUAGE sql SET search_path = pg_catalog, pg_temp AS 'SELECT';
REVOKE ALL ON FUNCTION understudy_ledger.may_set_limits() FROM PUBLIC;

-- A fraction such as '3/130', times 10^40 and rounded down.
CREATE OR REPLACE FUNCTION understudy_ledger.rounded_down(amount text) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT div(split_part(amount, '/', 1)::numeric * 1e40,
               coalesce(nullif(split_part(amount, '/', 2), ''), '1')::numeric)
$$;

-- a / b of two fractions, times 10^40 and rounded down.
CREATE OR REPLACE FUNCTION understudy_ledger.ratio(a text, b text) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT div(split_part(a, '/', 1)::numeric
                   * coalesce(nullif(split_part(b, '/', 2), ''), '1')::numeric * 1e40,
               split_part(b, '/', 1)::numeric
                   * coalesce(nullif(split_part(a, '/', 2), ''), '1')::numeric)
$$;

-- The pure epsilon of a charge; null where it has none.
CREATE OR REPLACE FUNCTION understudy_ledger.pure_epsilon(said jsonb) RETURNS numeric
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE said->>'mechanism'
        WHEN 'discrete laplace' THEN
            understudy_ledger.ratio(said->>'sensitivity_exact', said->>'scale_exact')
        WHEN 'permute and flip' THEN
            2 * understudy_ledger.ratio(said->>'sensitivity_exact', said->>'scale_exact')
        WHEN 'exponential' THEN
            2 * understudy_ledger.ratio(said->>'sensitivity_exact', said->>'scale_exact')
        WHEN 'key release' THEN NULL
        WHEN 'discrete gaussian' THEN NULL
        WHEN 'fine gaussian' THEN NULL
        WHEN 'sampled gaussian' THEN NULL
        WHEN 'gaussian key release' THEN NULL
        ELSE CASE WHEN coalesce(said->>'delta_exact', '0') = '0'
            THEN understudy_ledger.rounded_down(said->>'epsilon_exact') END
    END
$$;

CREATE OR REPLACE FUNCTION understudy_ledger.gaussian_rho(said jsonb) RETURNS numeric
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT div(understudy_ledger.ratio(
        said->>'sensitivity_squared_exact', said->>'sigma_squared_exact'), 2)
$$;

-- The rho of a charge; null where it has none.
CREATE OR REPLACE FUNCTION understudy_ledger.rho(said jsonb) RETURNS numeric
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE said->>'mechanism'
        WHEN 'sampled gaussian' THEN NULL
        WHEN 'key release' THEN div(
            understudy_ledger.ratio(said->>'sensitivity_exact', said->>'scale_exact') ^ 2, 2e40)
        WHEN 'exponential' THEN div(understudy_ledger.pure_epsilon(said) ^ 2, 8e40)
        WHEN 'discrete gaussian' THEN understudy_ledger.gaussian_rho(said)
        WHEN 'fine gaussian' THEN understudy_ledger.gaussian_rho(said)
        WHEN 'gaussian key release' THEN understudy_ledger.gaussian_rho(said)
        ELSE div(understudy_ledger.pure_epsilon(said) ^ 2, 2e40)
    END
$$;

-- Refuse an amount that is not a fraction from 0 on, noise of no width, and amounts that lack.
CREATE OR REPLACE FUNCTION understudy_ledger.check_amounts(said jsonb)
    RETURNS void LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    needed text[] := '{}';
BEGIN
    IF said->>'entry' IN ('limit', 'grant', 'close') THEN
        needed := '{epsilon_exact, delta_exact}';
    END IF;
    IF said ? 'rho_exact' THEN
        needed := needed || '{rho_delta_exact}'::text[];
    END IF;
    IF NOT said ?& needed
        OR (said ? 'times' AND (jsonb_typeof(said->'times') <> 'number'
                                OR said->>'times' !~ '^[1-9][0-9]*$'))
        OR EXISTS (
            SELECT FROM jsonb_each(said) AS field (name, amount)
            WHERE right(name, 6) = '_exact' AND (
                jsonb_typeof(amount) <> 'string'
                OR length(amount #>> '{}') > 4000
                OR amount #>> '{}' !~ '^[0-9]+(/0*[1-9][0-9]*)?$'
                OR understudy_ledger.rounded_down(amount #>> '{}') > 1e340
                OR (name IN ('scale_exact', 'sigma_squared_exact', 'finer_exact')
                    AND amount #>> '{}' ~ '^0+(/|$)'))) THEN
        RAISE EXCEPTION USING ERRCODE = 'UL008', MESSAGE = 'an amount is missing or impossible';
    END IF;
END $$;

-- Refuse an entry that is well-formed and that no reader could make sense of: it would stop all.
CREATE OR REPLACE FUNCTION understudy_ledger.check_meaning(run_named text, said jsonb)
    RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sound boolean := jsonb_typeof(said->'entry') = 'string'
        AND jsonb_typeof(said->'time') = 'string'
        AND (NOT said ? 'grant' OR jsonb_typeof(said->'grant') = 'string');
    holder_now text; last_step jsonb;
BEGIN
    IF said->>'entry' IN ('grant', 'limit') THEN
        sound := sound AND jsonb_typeof(said->'dataset') = 'string'
            AND (NOT said ? 'unit' OR rtrim(split_part(said->>'unit', ' ', 1), ',')
                 IN ('row', 'person', 'image', 'user'))
            AND (NOT said ? 'neighbours' OR said->>'neighbours' IN ('add-remove', 'replace'))
            AND coalesce(jsonb_typeof(said->'person_id'), 'null') IN ('string', 'null');
    END IF;
    IF said->>'entry' = 'grant' THEN
        sound := sound AND said ? 'grant' AND NOT said ?| '{step, checkpoint, holder}';
    ELSIF said->>'entry' = 'close' THEN
        sound := sound AND jsonb_typeof(said->'accounting') = 'string';
    ELSIF said->>'entry' IN ('step', 'resume') THEN
        SELECT coalesce((SELECT body::jsonb->>'holder' FROM understudy_ledger.entries
            WHERE run = run_named AND entry = 'resume' ORDER BY number DESC LIMIT 1), '')
            INTO holder_now;
        SELECT body::jsonb INTO last_step FROM understudy_ledger.entries
            WHERE run = run_named AND entry = 'step' ORDER BY number DESC LIMIT 1;
        sound := sound AND jsonb_typeof(said->'step') = 'number'
            AND said->>'step' ~ '^[1-9][0-9]{0,17}$'
            AND jsonb_typeof(said->'checkpoint') = 'string'
            AND said->>'checkpoint' ~ '^[0-9a-f]{64}$'
            AND jsonb_typeof(said->'holder') = 'string'
            AND CASE said->>'entry'
                WHEN 'step' THEN said->>'holder' = holder_now
                    AND (said->>'step')::numeric > coalesce((last_step->>'step')::numeric, 0)
                ELSE said->>'holder' ~ '^[0-9a-f]{32}$' AND said->>'holder' <> holder_now
                    AND said->'step' = last_step->'step'
                    AND said->'checkpoint' = last_step->'checkpoint'
            END;
    END IF;
    -- What is missing is null, and not sound.
    IF sound IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'UL011', MESSAGE = 'nobody could read this entry';
    END IF;
END $$;

-- Refuse a close that says less than the run's charges add up to.
CREATE OR REPLACE FUNCTION understudy_ledger.check_close(run_named text, closing jsonb)
    RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    opening jsonb; counts_rho boolean; enough boolean;
    sum_delta numeric := 0; sum_rho_delta numeric;
    charges bigint; pure_ones bigint; sum_epsilon numeric; with_rho bigint; sum_rho numeric;
BEGIN
    SELECT body::jsonb INTO opening FROM understudy_ledger.entries
        WHERE run = run_named AND entry = 'grant';
    SELECT body::jsonb ? 'rho_exact' INTO counts_rho FROM understudy_ledger.entries
        WHERE run = run_named AND entry IN ('grant', 'reserve') ORDER BY number DESC LIMIT 1;
    SELECT count(*), count(epsilon), coalesce(sum(epsilon), 0), count(rho), coalesce(sum(rho), 0),
            coalesce(sum(delta), 0)
        INTO charges, pure_ones, sum_epsilon, with_rho, sum_rho, sum_rho_delta
        FROM (SELECT times * understudy_ledger.pure_epsilon(said) AS epsilon,
                     times * understudy_ledger.rho(said) AS rho,
                     times * understudy_ledger.rounded_down(said->>'delta_exact') AS delta
              FROM (SELECT body::jsonb AS said,
                           coalesce((body::jsonb->>'times')::numeric, 1) AS times
                    FROM understudy_ledger.entries
                    WHERE run = run_named AND entry = 'charge') AS read) AS counted;
    IF pure_ones < charges THEN
        sum_epsilon := understudy_ledger.rounded_down(opening->>'epsilon_exact');
        sum_delta := understudy_ledger.rounded_down(opening->>'delta_exact');
    END IF;
    enough := understudy_ledger.rounded_down(closing->>'epsilon_exact') + charges >= sum_epsilon
        AND understudy_ledger.rounded_down(closing->>'delta_exact') >= sum_delta;
    IF closing ? 'rho_exact' THEN
        enough := enough AND with_rho = charges
            AND understudy_ledger.rounded_down(closing->>'rho_exact') + charges >= sum_rho
            AND understudy_ledger.rounded_down(closing->>'rho_delta_exact') + charges
                >= sum_rho_delta;
    ELSE
        -- A run that is counted in rho says its own, unless one of its charges has none.
        enough := enough AND (NOT counts_rho OR with_rho < charges);
    END IF;
    -- What is missing is null, and not enough.
    IF enough IS NOT TRUE THEN
        RAISE EXCEPTION USING ERRCODE = 'UL004', MESSAGE = 'closed for too little';
    END IF;
END $$;

-- Whether a number is written as Python writes it.
CREATE OR REPLACE FUNCTION understudy_ledger.is_plain(digits text) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp
    SET extra_float_digits = 1 AS $$
    SELECT CASE
        WHEN digits ~ '^(0|-?[1-9][0-9]*)$' THEN length(digits) < 4300
        WHEN digits ~ '^-?(0|[1-9][0-9]{0,15})[.](0|[0-9]*[1-9])$' THEN
            (digits::numeric = 0 OR abs(digits::numeric) >= 0.0001)
            AND (digits::numeric = digits::float8::text::numeric
                OR length(digits) < length(digits::float8::text::numeric::text))
        WHEN digits ~ ('^-?[1-9]([.][0-9]*[1-9])?e([-](0[5-9]|[1-9][0-9]{1,2})'
                       || '|[+](1[6-9]|[2-9][0-9]|[1-9][0-9]{2}))$')
            THEN digits::numeric = digits::float8::text::numeric
                OR length(digits) < length(digits::float8::text)
        ELSE false
    END
$$;

-- A JSON text as Python writes it, with sorted names; another text, or null, where that differs.
CREATE OR REPLACE FUNCTION understudy_ledger.canonical(part json) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE json_typeof(part)
        WHEN 'object' THEN (
            SELECT CASE WHEN count(*) = count(DISTINCT name) THEN '{' || coalesce(string_agg(
                to_json(name)::text || ': ' || understudy_ledger.canonical(held), ', '
                ORDER BY name COLLATE "C"), '') || '}' END
            FROM json_each(part) AS field (name, held))
        WHEN 'array' THEN (
            SELECT '[' || coalesce(string_agg(
                understudy_ledger.canonical(held), ', ' ORDER BY place), '') || ']'
            FROM json_array_elements(part) WITH ORDINALITY AS item (held, place))
        WHEN 'string' THEN to_json(part #>> '{}')::text
        WHEN 'number' THEN CASE WHEN understudy_ledger.is_plain(part::text) THEN part::text END
        ELSE part::text
    END;
END $$;

CREATE OR REPLACE FUNCTION understudy_ledger.check_entry() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    last_number bigint; last_check text := ''; said jsonb; digits text;
BEGIN
    SELECT number, "check" INTO last_number, last_check
        FROM understudy_ledger.entries ORDER BY number DESC LIMIT 1;
    last_check := coalesce(last_check, '');
    digits := encode(sha256(convert_to(last_check || NEW.body, 'UTF8')), 'hex');
    IF NEW.number IS DISTINCT FROM coalesce(last_number, 0) + 1 OR NOT (NEW."check" = digits
        OR (length(last_check) <= 16 AND NEW."check" = left(digits, 16))) THEN
        RAISE EXCEPTION USING ERRCODE = 'UL001', MESSAGE = 'an entry follows the one before it';
    END IF;
    said := NEW.body::jsonb;
    NEW.entry := said->>'entry';
    NEW.run := said->>'grant';
    NEW.written_by := session_user;
    IF (said->>'time')::timestamptz > clock_timestamp() + interval '5 minutes' THEN
        RAISE EXCEPTION USING ERRCODE = 'UL005', MESSAGE = 'an entry of the future';
    END IF;
    IF NEW.entry IN ('limit', 'moved') AND NOT has_function_privilege(
        session_user, 'understudy_ledger.may_set_limits()', 'EXECUTE') THEN
        RAISE EXCEPTION USING ERRCODE = 'UL002', MESSAGE = 'stewards set limits';
    END IF;
    IF EXISTS (SELECT FROM understudy_ledger.entries WHERE entry = 'moved') THEN
        RAISE EXCEPTION USING ERRCODE = 'UL006', MESSAGE = 'this ledger was moved';
    END IF;
    IF NEW.entry NOT IN ('limit', 'grant', 'moved', 'torn') THEN
        IF NOT EXISTS (SELECT FROM understudy_ledger.entries
                       WHERE run = NEW.run AND entry = 'grant')
            OR EXISTS (SELECT FROM understudy_ledger.entries
                       WHERE run = NEW.run AND entry = 'close') THEN
            RAISE EXCEPTION USING ERRCODE = 'UL003', MESSAGE = 'this run is not open';
        END IF;
    END IF;
    IF understudy_ledger.canonical(NEW.body::json) IS DISTINCT FROM NEW.body THEN
        RAISE EXCEPTION USING ERRCODE = 'UL010', MESSAGE = 'an entry is not in canonical form';
    END IF;
    PERFORM understudy_ledger.check_amounts(said);
    -- As it is written: jsonb has spelled 1e+16 out, which readers take for a fraction.
    IF NEW.body::json->>'times' !~ '^[0-9]+$' OR NEW.body::json->>'step' !~ '^[0-9]+$'
        OR said->>'time' !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)?$' THEN
        RAISE EXCEPTION USING ERRCODE = 'UL011', MESSAGE = 'nobody could read this entry';
    END IF;
    PERFORM understudy_ledger.check_meaning(NEW.run, said);
    -- Closes that a steward imports were counted elsewhere, perhaps by bounds unknown here.
    IF NEW.entry = 'close' AND NOT (
        coalesce(current_setting('understudy_ledger.importing', true), '') = 'on'
        AND has_function_privilege(
            session_user, 'understudy_ledger.may_set_limits()', 'EXECUTE')) THEN
        PERFORM understudy_ledger.check_close(NEW.run, said);
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER entries_are_checked BEFORE INSERT ON understudy_ledger.entries
    FOR EACH ROW EXECUTE FUNCTION understudy_ledger.check_entry();

CREATE OR REPLACE FUNCTION understudy_ledger.refuse() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'UL007', MESSAGE = 'a ledger is only appended to';
END $$;
CREATE OR REPLACE TRIGGER entries_stay BEFORE UPDATE OR DELETE ON understudy_ledger.entries
    FOR EACH ROW EXECUTE FUNCTION understudy_ledger.refuse();
CREATE OR REPLACE TRIGGER entries_stay_all BEFORE TRUNCATE ON understudy_ledger.entries
    FOR EACH STATEMENT EXECUTE FUNCTION understudy_ledger.refuse();
"""

_MAY_SPEND = """
GRANT USAGE ON SCHEMA understudy_ledger TO {role};
GRANT SELECT, INSERT (number, body, "check") ON understudy_ledger.entries TO {role};
GRANT SELECT ON understudy_ledger.secret TO {role};
"""
_MAY_LIMIT = "GRANT EXECUTE ON FUNCTION understudy_ledger.may_set_limits() TO {role};\n"


def statements(*, stewards: Sequence[str] = (), analysts: Sequence[str] = ()) -> str:
    """The SQL that makes a ledger, or adds roles to one that is there.

    Args:
        stewards: roles that set limits, and spend.
        analysts: roles that spend.
    """
    text = _TABLES
    for role in [*stewards, *analysts]:
        text += _MAY_SPEND.format(role=_quoted(role))
    for role in stewards:
        text += _MAY_LIMIT.format(role=_quoted(role))
    return f"{text}COMMIT;\n"


def _quoted(role: str) -> str:
    """A role's name as SQL writes it, whatever characters it has."""
    return '"' + role.replace('"', '""') + '"'
