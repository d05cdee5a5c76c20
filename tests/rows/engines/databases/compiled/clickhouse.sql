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
    END AS "c4",
    CASE
      WHEN isNull("t0"."flag")
      THEN CAST(NULL AS Nullable(Int32))
      ELSE CASE WHEN "t0"."flag" THEN 1 ELSE 0 END
    END AS "c5",
    CASE
      WHEN isNull("t0"."listed")
      THEN CAST(NULL AS Nullable(Int32))
      ELSE CASE "t0"."listed"
        WHEN 1
        THEN 0
        WHEN 2
        THEN 1
        WHEN 5
        THEN 2
        ELSE CASE
          WHEN isNaN(CAST("t0"."listed" AS Nullable(Float64)))
          THEN CAST(NULL AS Nullable(Int32))
          ELSE CASE CAST("t0"."listed" AS Nullable(Float64))
            WHEN CAST('1.0' AS Nullable(Float64))
            THEN 0
            WHEN CAST('2.0' AS Nullable(Float64))
            THEN 1
            WHEN CAST('5.0' AS Nullable(Float64))
            THEN 2
            ELSE CAST(NULL AS Nullable(Int32))
          END
        END
      END
    END AS "c6",
    CASE
      WHEN isNull("t0"."amount") OR isNaN(CAST("t0"."amount" AS Nullable(Float64)))
      THEN CAST(NULL AS Nullable(Int32))
      ELSE CASE
        WHEN CAST("t0"."amount" AS Nullable(Float64)) >= CAST('4.0' AS Nullable(Float64))
        THEN CASE
          WHEN CAST("t0"."amount" AS Nullable(Float64)) >= CAST('6.0' AS Nullable(Float64))
          THEN CASE
            WHEN CAST("t0"."amount" AS Nullable(Float64)) >= CAST('8.0' AS Nullable(Float64))
            THEN 4
            ELSE 3
          END
          ELSE 2
        END
        ELSE CASE
          WHEN CAST("t0"."amount" AS Nullable(Float64)) >= CAST('2.0' AS Nullable(Float64))
          THEN 1
          ELSE 0
        END
      END
    END AS "c7"
  FROM "people" AS "t0"
) AS "t1"
WHERE
  isNotNull("t1"."c1")
  AND isNotNull("t1"."c2")
  AND isNotNull("t1"."c3")
  AND isNotNull("t1"."c4")
  AND isNotNull("t1"."c5")
  AND isNotNull("t1"."c6")
  AND isNotNull("t1"."c7")
;
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, COUNT(*) FROM encoded UNION ALL SELECT "c0", NULL, NULL, NULL, NULL, NULL, NULL, NULL, COUNT(*) FROM encoded GROUP BY "c0" UNION ALL SELECT NULL, "c1", "c2", NULL, NULL, NULL, NULL, NULL, COUNT(*) FROM encoded GROUP BY "c1", "c2" UNION ALL SELECT NULL, NULL, NULL, "c3", "c4", NULL, NULL, NULL, COUNT(*) FROM encoded GROUP BY "c3", "c4" UNION ALL SELECT NULL, NULL, "c2", NULL, NULL, NULL, NULL, NULL, COUNT(*) FROM encoded GROUP BY "c2" UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, "c5", "c6", "c7", COUNT(*) FROM encoded GROUP BY "c5", "c6", "c7"
