SELECT
  *
FROM (
  SELECT
    CASE
      WHEN (
        "t1"."whole" IS NULL
      )
      OR (
        (
          "t1"."whole" >= -1
        ) AND NOT (
          "t1"."whole" >= 0
        )
      )
      THEN 10
      ELSE CASE
        WHEN NOT (
          "t1"."whole" >= 0
        )
        THEN 0
        WHEN "t1"."whole" >= 9
        THEN 9
        ELSE CAST("t1"."whole" - 0 AS INT)
      END
    END AS "c0",
    CASE
      WHEN (
        "t1"."real" IS NULL
      ) OR (
        "t1"."real" = CAST('NaN' AS DOUBLE)
      )
      THEN CAST(NULL AS INT)
      WHEN NOT (
        "t1"."real" >= CAST('0.0' AS DOUBLE)
      )
      OR (
        "t1"."real" > CAST('1.0' AS DOUBLE)
      )
      THEN CAST(NULL AS INT)
      ELSE IFF(
        "t1"."real" >= CAST('0.1' AS DOUBLE),
        IFF("t1"."real" >= CAST('0.7' AS DOUBLE), 2, 1),
        0
      )
    END AS "c1",
    IFF(
      "t1"."text" IS NULL,
      CAST(NULL AS INT),
      CASE TRIM("t1"."text", '\t\n\f\r                  　')
        WHEN 'a'
        THEN 0
        WHEN 'B'
        THEN 1
        WHEN 'it\'s'
        THEN 2
        WHEN 'female'
        THEN 3
        WHEN 'vav'
        THEN 4
        WHEN 'narrator'
        THEN 5
        WHEN 'batb'
        THEN 6
        WHEN 'ab'
        THEN 7
        ELSE CAST(NULL AS INT)
      END
    ) AS "c2",
    CASE
      WHEN "t1"."day" IS NULL
      THEN CAST(NULL AS INT)
      ELSE IFF(
        "t1"."day" >= DATE_FROM_PARTS(2020, 7, 2),
        IFF("t1"."day" >= DATE_FROM_PARTS(2020, 10, 1), 3, 2),
        IFF("t1"."day" >= DATE_FROM_PARTS(2020, 4, 1), 1, 0)
      )
    END AS "c3",
    CASE
      WHEN "t1"."moment" IS NULL
      THEN CAST(NULL AS INT)
      ELSE IFF(
        "t1"."moment" >= TIMESTAMP_FROM_PARTS(2020, 5, 2, 0, 0, 0, 0),
        IFF("t1"."moment" >= TIMESTAMP_FROM_PARTS(2020, 9, 1, 0, 0, 0, 0), 2, 1),
        0
      )
    END AS "c4",
    IFF("t1"."flag" IS NULL, CAST(NULL AS INT), IFF("t1"."flag", 1, 0)) AS "c5",
    IFF(
      "t1"."listed" IS NULL,
      CAST(NULL AS INT),
      CASE "t1"."listed"
        WHEN 1
        THEN 0
        WHEN 2
        THEN 1
        WHEN 5
        THEN 2
        ELSE IFF(
          CAST("t1"."listed" AS DOUBLE) = CAST('NaN' AS DOUBLE),
          CAST(NULL AS INT),
          CASE CAST("t1"."listed" AS DOUBLE)
            WHEN CAST('1.0' AS DOUBLE)
            THEN 0
            WHEN CAST('2.0' AS DOUBLE)
            THEN 1
            WHEN CAST('5.0' AS DOUBLE)
            THEN 2
            ELSE CAST(NULL AS INT)
          END
        )
      END
    ) AS "c6",
    CASE
      WHEN (
        "t1"."amount" IS NULL
      )
      OR (
        CAST("t1"."amount" AS DOUBLE) = CAST('NaN' AS DOUBLE)
      )
      THEN CAST(NULL AS INT)
      ELSE IFF(
        CAST("t1"."amount" AS DOUBLE) >= CAST('4.0' AS DOUBLE),
        IFF(
          CAST("t1"."amount" AS DOUBLE) >= CAST('6.0' AS DOUBLE),
          IFF(CAST("t1"."amount" AS DOUBLE) >= CAST('8.0' AS DOUBLE), 4, 3),
          2
        ),
        IFF(CAST("t1"."amount" AS DOUBLE) >= CAST('2.0' AS DOUBLE), 1, 0)
      )
    END AS "c7"
  FROM (
    SELECT
      *
    FROM "people" AS "t0"
  ) AS "t1"
) AS "t2"
WHERE
  "t2"."c1" IS NOT NULL
  AND "t2"."c2" IS NOT NULL
  AND "t2"."c3" IS NOT NULL
  AND "t2"."c4" IS NOT NULL
  AND "t2"."c5" IS NOT NULL
  AND "t2"."c6" IS NOT NULL
  AND "t2"."c7" IS NOT NULL
;
SELECT "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", COUNT(*) FROM encoded GROUP BY GROUPING SETS ((), ("c0"), ("c1", "c2"), ("c3", "c4"), ("c2"), ("c5", "c6", "c7"))
