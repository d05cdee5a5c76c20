SELECT
  *
FROM (
  SELECT
    CASE
      WHEN isNull("t0"."whole")
      OR (
        (
          "t0"."whole" >= -1
        ) AND NOT (
          "t0"."whole" >= 0
        )
      )
      THEN 10
      ELSE CASE
        WHEN NOT (
          "t0"."whole" >= 0
        )
        THEN 0
        WHEN "t0"."whole" >= 9
        THEN 9
        ELSE CAST("t0"."whole" - 0 AS Nullable(Int32))
      END
    END AS "c0",
    CASE
      WHEN isNull("t0"."real") OR isNaN("t0"."real")
      THEN CAST(NULL AS Nullable(Int32))
      WHEN NOT (
        "t0"."real" >= CAST('0.0' AS Nullable(Float64))
      )
      OR (
        "t0"."real" > CAST('1.0' AS Nullable(Float64))
      )
      THEN CAST(NULL AS Nullable(Int32))
      ELSE CASE
        WHEN "t0"."real" >= CAST('0.1' AS Nullable(Float64))
        THEN CASE WHEN "t0"."real" >= CAST('0.7' AS Nullable(Float64)) THEN 2 ELSE 1 END
        ELSE 0
      END
    END AS "c1",
    CASE
      WHEN isNull("t0"."text")
      THEN CAST(NULL AS Nullable(Int32))
      ELSE CASE replaceRegexpAll(
          "t0"."text",
          '^[\t\n\v\f\r                  　]+|[\t\n\v\f\r                  　]+$',
          ''
        )
        WHEN 'a'
        THEN 0
        WHEN 'B'
        THEN 1
        WHEN 'it''s'
        THEN 2
        WHEN 'female'
        THEN 3
        WHEN 'vav'
        THEN 4
        WHEN 'narrator'
        THEN 5
        WHEN 'batb'
        THEN 6
        WHEN 'a\vb'
        THEN 7
        ELSE CAST(NULL AS Nullable(Int32))
      END
    END AS "c2",
    CASE
      WHEN isNull("t0"."day")
      THEN CAST(NULL AS Nullable(Int32))
      ELSE CASE
        WHEN "t0"."day" >= toDate('2020-07-02')
        THEN CASE WHEN "t0"."day" >= toDate('2020-10-01') THEN 3 ELSE 2 END
        ELSE CASE WHEN "t0"."day" >= toDate('2020-04-01') THEN 1 ELSE 0 END
      END
    END AS "c3",
    CASE
      WHEN isNull("t0"."moment")
      THEN CAST(NULL AS Nullable(Int32))
      ELSE CASE
        WHEN "t0"."moment" >= parseDateTimeBestEffort('2020-05-02T00:00:00')
        THEN CASE
          WHEN "t0"."moment" >= parseDateTimeBestEffort('2020-09-01T00:00:00')
          THEN 2
          ELSE 1
        END
        ELSE 0
      END
    END AS "c4"
  FROM "people" AS "t0"
) AS "t1"
WHERE
  isNotNull("t1"."c1")
  AND isNotNull("t1"."c2")
  AND isNotNull("t1"."c3")
  AND isNotNull("t1"."c4")
;
SELECT NULL, NULL, NULL, NULL, NULL, COUNT(*) FROM encoded UNION ALL SELECT "c0", NULL, NULL, NULL, NULL, COUNT(*) FROM encoded GROUP BY "c0" UNION ALL SELECT NULL, "c1", "c2", NULL, NULL, COUNT(*) FROM encoded GROUP BY "c1", "c2" UNION ALL SELECT NULL, NULL, NULL, "c3", "c4", COUNT(*) FROM encoded GROUP BY "c3", "c4" UNION ALL SELECT NULL, NULL, "c2", NULL, NULL, COUNT(*) FROM encoded GROUP BY "c2"
