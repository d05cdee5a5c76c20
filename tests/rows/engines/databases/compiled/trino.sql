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
        ELSE CAST("t1"."whole" - 0 AS INTEGER)
      END
    END AS "c0",
    CASE
      WHEN (
        "t1"."real" IS NULL
      ) OR IS_NAN("t1"."real")
      THEN CAST(NULL AS INTEGER)
      WHEN NOT (
        "t1"."real" >= CAST('0.0' AS DOUBLE)
      )
      OR (
        "t1"."real" > CAST('1.0' AS DOUBLE)
      )
      THEN CAST(NULL AS INTEGER)
      ELSE IF(
        "t1"."real" >= CAST('0.1' AS DOUBLE),
        IF("t1"."real" >= CAST('0.7' AS DOUBLE), 2, 1),
        0
      )
    END AS "c1",
    IF(
      "t1"."text" IS NULL,
      CAST(NULL AS INTEGER),
      CASE SUBSTRING(
          "t1"."text",
          IF(
            (
              (
                LENGTH(
                  SUBSTRING(
                    TRANSLATE(
                      CONCAT('.', "t1"."text"),
                      '	
                  　',
                      '                             '
                    ),
                    IF(
                      (
                        1 + 1
                      ) >= 1,
                      1 + 1,
                      1 + 1 + LENGTH(
                        TRANSLATE(
                          CONCAT('.', "t1"."text"),
                          '	
                  　',
                          '                             '
                        )
                      )
                    )
                  )
                ) - LENGTH(
                  TRIM(LEADING ' 	
' FROM SUBSTRING(
                    TRANSLATE(
                      CONCAT('.', "t1"."text"),
                      '	
                  　',
                      '                             '
                    ),
                    IF(
                      (
                        1 + 1
                      ) >= 1,
                      1 + 1,
                      1 + 1 + LENGTH(
                        TRANSLATE(
                          CONCAT('.', "t1"."text"),
                          '	
                  　',
                          '                             '
                        )
                      )
                    )
                  ))
                )
              ) + 1
            ) >= 1,
            (
              LENGTH(
                SUBSTRING(
                  TRANSLATE(
                    CONCAT('.', "t1"."text"),
                    '	
                  　',
                    '                             '
                  ),
                  IF(
                    (
                      1 + 1
                    ) >= 1,
                    1 + 1,
                    1 + 1 + LENGTH(
                      TRANSLATE(
                        CONCAT('.', "t1"."text"),
                        '	
                  　',
                        '                             '
                      )
                    )
                  )
                )
              ) - LENGTH(
                TRIM(LEADING ' 	
' FROM SUBSTRING(
                  TRANSLATE(
                    CONCAT('.', "t1"."text"),
                    '	
                  　',
                    '                             '
                  ),
                  IF(
                    (
                      1 + 1
                    ) >= 1,
                    1 + 1,
                    1 + 1 + LENGTH(
                      TRANSLATE(
                        CONCAT('.', "t1"."text"),
                        '	
                  　',
                        '                             '
                      )
                    )
                  )
                ))
              )
            ) + 1,
            (
              LENGTH(
                SUBSTRING(
                  TRANSLATE(
                    CONCAT('.', "t1"."text"),
                    '	
                  　',
                    '                             '
                  ),
                  IF(
                    (
                      1 + 1
                    ) >= 1,
                    1 + 1,
                    1 + 1 + LENGTH(
                      TRANSLATE(
                        CONCAT('.', "t1"."text"),
                        '	
                  　',
                        '                             '
                      )
                    )
                  )
                )
              ) - LENGTH(
                TRIM(LEADING ' 	
' FROM SUBSTRING(
                  TRANSLATE(
                    CONCAT('.', "t1"."text"),
                    '	
                  　',
                    '                             '
                  ),
                  IF(
                    (
                      1 + 1
                    ) >= 1,
                    1 + 1,
                    1 + 1 + LENGTH(
                      TRANSLATE(
                        CONCAT('.', "t1"."text"),
                        '	
                  　',
                        '                             '
                      )
                    )
                  )
                ))
              )
            ) + 1 + LENGTH("t1"."text")
          ),
          LENGTH(
            TRIM(' 	
' FROM SUBSTRING(
              TRANSLATE(
                CONCAT('.', "t1"."text"),
                '	
                  　',
                '                             '
              ),
              IF(
                (
                  1 + 1
                ) >= 1,
                1 + 1,
                1 + 1 + LENGTH(
                  TRANSLATE(
                    CONCAT('.', "t1"."text"),
                    '	
                  　',
                    '                             '
                  )
                )
              )
            ))
          )
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
        WHEN 'ab'
        THEN 7
        ELSE CAST(NULL AS INTEGER)
      END
    ) AS "c2",
    CASE
      WHEN "t1"."day" IS NULL
      THEN CAST(NULL AS INTEGER)
      ELSE IF(
        "t1"."day" >= FROM_ISO8601_DATE('2020-07-02'),
        IF("t1"."day" >= FROM_ISO8601_DATE('2020-10-01'), 3, 2),
        IF("t1"."day" >= FROM_ISO8601_DATE('2020-04-01'), 1, 0)
      )
    END AS "c3",
    CASE
      WHEN "t1"."moment" IS NULL
      THEN CAST(NULL AS INTEGER)
      ELSE IF(
        "t1"."moment" >= CAST(FROM_ISO8601_TIMESTAMP('2020-05-02T00:00:00') AS TIMESTAMP),
        IF(
          "t1"."moment" >= CAST(FROM_ISO8601_TIMESTAMP('2020-09-01T00:00:00') AS TIMESTAMP),
          2,
          1
        ),
        0
      )
    END AS "c4",
    IF("t1"."flag" IS NULL, CAST(NULL AS INTEGER), IF("t1"."flag", 1, 0)) AS "c5",
    IF(
      "t1"."listed" IS NULL,
      CAST(NULL AS INTEGER),
      CASE "t1"."listed"
        WHEN 1
        THEN 0
        WHEN 2
        THEN 1
        WHEN 5
        THEN 2
        ELSE IF(
          IS_NAN(CAST("t1"."listed" AS DOUBLE)),
          CAST(NULL AS INTEGER),
          CASE CAST("t1"."listed" AS DOUBLE)
            WHEN CAST('1.0' AS DOUBLE)
            THEN 0
            WHEN CAST('2.0' AS DOUBLE)
            THEN 1
            WHEN CAST('5.0' AS DOUBLE)
            THEN 2
            ELSE CAST(NULL AS INTEGER)
          END
        )
      END
    ) AS "c6",
    CASE
      WHEN (
        "t1"."amount" IS NULL
      ) OR IS_NAN(CAST("t1"."amount" AS DOUBLE))
      THEN CAST(NULL AS INTEGER)
      ELSE IF(
        CAST("t1"."amount" AS DOUBLE) >= CAST('4.0' AS DOUBLE),
        IF(
          CAST("t1"."amount" AS DOUBLE) >= CAST('6.0' AS DOUBLE),
          IF(CAST("t1"."amount" AS DOUBLE) >= CAST('8.0' AS DOUBLE), 4, 3),
          2
        ),
        IF(CAST("t1"."amount" AS DOUBLE) >= CAST('2.0' AS DOUBLE), 1, 0)
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
