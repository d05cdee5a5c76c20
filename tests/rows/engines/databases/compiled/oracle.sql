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
      WHEN "t1"."real" IS NULL
      THEN NULL
      WHEN NOT (
        "t1"."real" >= CAST('0.0' AS DOUBLE PRECISION)
      )
      OR (
        "t1"."real" > CAST('1.0' AS DOUBLE PRECISION)
      )
      THEN NULL
      ELSE CASE
        WHEN "t1"."real" >= CAST('0.1' AS DOUBLE PRECISION)
        THEN CASE WHEN "t1"."real" >= CAST('0.7' AS DOUBLE PRECISION) THEN 2 ELSE 1 END
        ELSE 0
      END
    END AS "c1",
    CASE
      WHEN "t1"."text" IS NULL
      THEN NULL
      ELSE CASE
        WHEN SUBSTR(
          "t1"."text",
          CASE
            WHEN (
              (
                LENGTH(
                  SUBSTR(
                    TRANSLATE(
                      CASE
                        WHEN '.' IS NULL OR "t1"."text" IS NULL
                        THEN NULL
                        ELSE CONCAT('.', "t1"."text")
                      END,
                      '	
                  　',
                      '                             '
                    ),
                    CASE
                      WHEN (
                        1 + 1
                      ) >= 1
                      THEN 1 + 1
                      ELSE 1 + 1 + LENGTH(
                        TRANSLATE(
                          CASE
                            WHEN '.' IS NULL OR "t1"."text" IS NULL
                            THEN NULL
                            ELSE CONCAT('.', "t1"."text")
                          END,
                          '	
                  　',
                          '                             '
                        )
                      )
                    END
                  )
                ) - LENGTH(
                  LTRIM(
                    SUBSTR(
                      TRANSLATE(
                        CASE
                          WHEN '.' IS NULL OR "t1"."text" IS NULL
                          THEN NULL
                          ELSE CONCAT('.', "t1"."text")
                        END,
                        '	
                  　',
                        '                             '
                      ),
                      CASE
                        WHEN (
                          1 + 1
                        ) >= 1
                        THEN 1 + 1
                        ELSE 1 + 1 + LENGTH(
                          TRANSLATE(
                            CASE
                              WHEN '.' IS NULL OR "t1"."text" IS NULL
                              THEN NULL
                              ELSE CONCAT('.', "t1"."text")
                            END,
                            '	
                  　',
                            '                             '
                          )
                        )
                      END
                    ),
                    ' 	
'
                  )
                )
              ) + 1
            ) >= 1
            THEN (
              LENGTH(
                SUBSTR(
                  TRANSLATE(
                    CASE
                      WHEN '.' IS NULL OR "t1"."text" IS NULL
                      THEN NULL
                      ELSE CONCAT('.', "t1"."text")
                    END,
                    '	
                  　',
                    '                             '
                  ),
                  CASE
                    WHEN (
                      1 + 1
                    ) >= 1
                    THEN 1 + 1
                    ELSE 1 + 1 + LENGTH(
                      TRANSLATE(
                        CASE
                          WHEN '.' IS NULL OR "t1"."text" IS NULL
                          THEN NULL
                          ELSE CONCAT('.', "t1"."text")
                        END,
                        '	
                  　',
                        '                             '
                      )
                    )
                  END
                )
              ) - LENGTH(
                LTRIM(
                  SUBSTR(
                    TRANSLATE(
                      CASE
                        WHEN '.' IS NULL OR "t1"."text" IS NULL
                        THEN NULL
                        ELSE CONCAT('.', "t1"."text")
                      END,
                      '	
                  　',
                      '                             '
                    ),
                    CASE
                      WHEN (
                        1 + 1
                      ) >= 1
                      THEN 1 + 1
                      ELSE 1 + 1 + LENGTH(
                        TRANSLATE(
                          CASE
                            WHEN '.' IS NULL OR "t1"."text" IS NULL
                            THEN NULL
                            ELSE CONCAT('.', "t1"."text")
                          END,
                          '	
                  　',
                          '                             '
                        )
                      )
                    END
                  ),
                  ' 	
'
                )
              )
            ) + 1
            ELSE (
              LENGTH(
                SUBSTR(
                  TRANSLATE(
                    CASE
                      WHEN '.' IS NULL OR "t1"."text" IS NULL
                      THEN NULL
                      ELSE CONCAT('.', "t1"."text")
                    END,
                    '	
                  　',
                    '                             '
                  ),
                  CASE
                    WHEN (
                      1 + 1
                    ) >= 1
                    THEN 1 + 1
                    ELSE 1 + 1 + LENGTH(
                      TRANSLATE(
                        CASE
                          WHEN '.' IS NULL OR "t1"."text" IS NULL
                          THEN NULL
                          ELSE CONCAT('.', "t1"."text")
                        END,
                        '	
                  　',
                        '                             '
                      )
                    )
                  END
                )
              ) - LENGTH(
                LTRIM(
                  SUBSTR(
                    TRANSLATE(
                      CASE
                        WHEN '.' IS NULL OR "t1"."text" IS NULL
                        THEN NULL
                        ELSE CONCAT('.', "t1"."text")
                      END,
                      '	
                  　',
                      '                             '
                    ),
                    CASE
                      WHEN (
                        1 + 1
                      ) >= 1
                      THEN 1 + 1
                      ELSE 1 + 1 + LENGTH(
                        TRANSLATE(
                          CASE
                            WHEN '.' IS NULL OR "t1"."text" IS NULL
                            THEN NULL
                            ELSE CONCAT('.', "t1"."text")
                          END,
                          '	
                  　',
                          '                             '
                        )
                      )
                    END
                  ),
                  ' 	
'
                )
              )
            ) + 1 + LENGTH("t1"."text")
          END,
          LENGTH(
            RTRIM(
              LTRIM(
                SUBSTR(
                  TRANSLATE(
                    CASE
                      WHEN '.' IS NULL OR "t1"."text" IS NULL
                      THEN NULL
                      ELSE CONCAT('.', "t1"."text")
                    END,
                    '	
                  　',
                    '                             '
                  ),
                  CASE
                    WHEN (
                      1 + 1
                    ) >= 1
                    THEN 1 + 1
                    ELSE 1 + 1 + LENGTH(
                      TRANSLATE(
                        CASE
                          WHEN '.' IS NULL OR "t1"."text" IS NULL
                          THEN NULL
                          ELSE CONCAT('.', "t1"."text")
                        END,
                        '	
                  　',
                        '                             '
                      )
                    )
                  END
                ),
                ' 	
'
              ),
              ' 	
'
            )
          )
        ) IS NULL
        THEN NULL
        ELSE CASE SUBSTR(
            "t1"."text",
            CASE
              WHEN (
                (
                  LENGTH(
                    SUBSTR(
                      TRANSLATE(
                        CASE
                          WHEN '.' IS NULL OR "t1"."text" IS NULL
                          THEN NULL
                          ELSE CONCAT('.', "t1"."text")
                        END,
                        '	
                  　',
                        '                             '
                      ),
                      CASE
                        WHEN (
                          1 + 1
                        ) >= 1
                        THEN 1 + 1
                        ELSE 1 + 1 + LENGTH(
                          TRANSLATE(
                            CASE
                              WHEN '.' IS NULL OR "t1"."text" IS NULL
                              THEN NULL
                              ELSE CONCAT('.', "t1"."text")
                            END,
                            '	
                  　',
                            '                             '
                          )
                        )
                      END
                    )
                  ) - LENGTH(
                    LTRIM(
                      SUBSTR(
                        TRANSLATE(
                          CASE
                            WHEN '.' IS NULL OR "t1"."text" IS NULL
                            THEN NULL
                            ELSE CONCAT('.', "t1"."text")
                          END,
                          '	
                  　',
                          '                             '
                        ),
                        CASE
                          WHEN (
                            1 + 1
                          ) >= 1
                          THEN 1 + 1
                          ELSE 1 + 1 + LENGTH(
                            TRANSLATE(
                              CASE
                                WHEN '.' IS NULL OR "t1"."text" IS NULL
                                THEN NULL
                                ELSE CONCAT('.', "t1"."text")
                              END,
                              '	
                  　',
                              '                             '
                            )
                          )
                        END
                      ),
                      ' 	
'
                    )
                  )
                ) + 1
              ) >= 1
              THEN (
                LENGTH(
                  SUBSTR(
                    TRANSLATE(
                      CASE
                        WHEN '.' IS NULL OR "t1"."text" IS NULL
                        THEN NULL
                        ELSE CONCAT('.', "t1"."text")
                      END,
                      '	
                  　',
                      '                             '
                    ),
                    CASE
                      WHEN (
                        1 + 1
                      ) >= 1
                      THEN 1 + 1
                      ELSE 1 + 1 + LENGTH(
                        TRANSLATE(
                          CASE
                            WHEN '.' IS NULL OR "t1"."text" IS NULL
                            THEN NULL
                            ELSE CONCAT('.', "t1"."text")
                          END,
                          '	
                  　',
                          '                             '
                        )
                      )
                    END
                  )
                ) - LENGTH(
                  LTRIM(
                    SUBSTR(
                      TRANSLATE(
                        CASE
                          WHEN '.' IS NULL OR "t1"."text" IS NULL
                          THEN NULL
                          ELSE CONCAT('.', "t1"."text")
                        END,
                        '	
                  　',
                        '                             '
                      ),
                      CASE
                        WHEN (
                          1 + 1
                        ) >= 1
                        THEN 1 + 1
                        ELSE 1 + 1 + LENGTH(
                          TRANSLATE(
                            CASE
                              WHEN '.' IS NULL OR "t1"."text" IS NULL
                              THEN NULL
                              ELSE CONCAT('.', "t1"."text")
                            END,
                            '	
                  　',
                            '                             '
                          )
                        )
                      END
                    ),
                    ' 	
'
                  )
                )
              ) + 1
              ELSE (
                LENGTH(
                  SUBSTR(
                    TRANSLATE(
                      CASE
                        WHEN '.' IS NULL OR "t1"."text" IS NULL
                        THEN NULL
                        ELSE CONCAT('.', "t1"."text")
                      END,
                      '	
                  　',
                      '                             '
                    ),
                    CASE
                      WHEN (
                        1 + 1
                      ) >= 1
                      THEN 1 + 1
                      ELSE 1 + 1 + LENGTH(
                        TRANSLATE(
                          CASE
                            WHEN '.' IS NULL OR "t1"."text" IS NULL
                            THEN NULL
                            ELSE CONCAT('.', "t1"."text")
                          END,
                          '	
                  　',
                          '                             '
                        )
                      )
                    END
                  )
                ) - LENGTH(
                  LTRIM(
                    SUBSTR(
                      TRANSLATE(
                        CASE
                          WHEN '.' IS NULL OR "t1"."text" IS NULL
                          THEN NULL
                          ELSE CONCAT('.', "t1"."text")
                        END,
                        '	
                  　',
                        '                             '
                      ),
                      CASE
                        WHEN (
                          1 + 1
                        ) >= 1
                        THEN 1 + 1
                        ELSE 1 + 1 + LENGTH(
                          TRANSLATE(
                            CASE
                              WHEN '.' IS NULL OR "t1"."text" IS NULL
                              THEN NULL
                              ELSE CONCAT('.', "t1"."text")
                            END,
                            '	
                  　',
                            '                             '
                          )
                        )
                      END
                    ),
                    ' 	
'
                  )
                )
              ) + 1 + LENGTH("t1"."text")
            END,
            LENGTH(
              RTRIM(
                LTRIM(
                  SUBSTR(
                    TRANSLATE(
                      CASE
                        WHEN '.' IS NULL OR "t1"."text" IS NULL
                        THEN NULL
                        ELSE CONCAT('.', "t1"."text")
                      END,
                      '	
                  　',
                      '                             '
                    ),
                    CASE
                      WHEN (
                        1 + 1
                      ) >= 1
                      THEN 1 + 1
                      ELSE 1 + 1 + LENGTH(
                        TRANSLATE(
                          CASE
                            WHEN '.' IS NULL OR "t1"."text" IS NULL
                            THEN NULL
                            ELSE CONCAT('.', "t1"."text")
                          END,
                          '	
                  　',
                          '                             '
                        )
                      )
                    END
                  ),
                  ' 	
'
                ),
                ' 	
'
              )
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
          ELSE NULL
        END
      END
    END AS "c2",
    CASE
      WHEN "t1"."day" IS NULL
      THEN NULL
      ELSE CASE
        WHEN "t1"."day" >= TO_DATE('2020-07-02', 'FXYYYY-MM-DD')
        THEN CASE WHEN "t1"."day" >= TO_DATE('2020-10-01', 'FXYYYY-MM-DD') THEN 3 ELSE 2 END
        ELSE CASE WHEN "t1"."day" >= TO_DATE('2020-04-01', 'FXYYYY-MM-DD') THEN 1 ELSE 0 END
      END
    END AS "c3",
    CASE
      WHEN "t1"."moment" IS NULL
      THEN NULL
      ELSE CASE
        WHEN "t1"."moment" >= TO_TIMESTAMP('2020-05-02T00:00:00', 'YYYY-MM-DD"T"HH24:MI:SS.FF6')
        THEN CASE
          WHEN "t1"."moment" >= TO_TIMESTAMP('2020-09-01T00:00:00', 'YYYY-MM-DD"T"HH24:MI:SS.FF6')
          THEN 2
          ELSE 1
        END
        ELSE 0
      END
    END AS "c4",
    CASE
      WHEN "t1"."flag" IS NULL
      THEN NULL
      ELSE CASE WHEN "t1"."flag" THEN 1 ELSE 0 END
    END AS "c5",
    CASE
      WHEN "t1"."listed" IS NULL
      THEN NULL
      ELSE CASE "t1"."listed"
        WHEN 1
        THEN 0
        WHEN 2
        THEN 1
        WHEN 5
        THEN 2
        ELSE CASE CAST("t1"."listed" AS DOUBLE PRECISION)
          WHEN CAST('1.0' AS DOUBLE PRECISION)
          THEN 0
          WHEN CAST('2.0' AS DOUBLE PRECISION)
          THEN 1
          WHEN CAST('5.0' AS DOUBLE PRECISION)
          THEN 2
          ELSE NULL
        END
      END
    END AS "c6",
    CASE
      WHEN "t1"."amount" IS NULL
      THEN NULL
      ELSE CASE
        WHEN CAST("t1"."amount" AS DOUBLE PRECISION) >= CAST('4.0' AS DOUBLE PRECISION)
        THEN CASE
          WHEN CAST("t1"."amount" AS DOUBLE PRECISION) >= CAST('6.0' AS DOUBLE PRECISION)
          THEN CASE
            WHEN CAST("t1"."amount" AS DOUBLE PRECISION) >= CAST('8.0' AS DOUBLE PRECISION)
            THEN 4
            ELSE 3
          END
          ELSE 2
        END
        ELSE CASE
          WHEN CAST("t1"."amount" AS DOUBLE PRECISION) >= CAST('2.0' AS DOUBLE PRECISION)
          THEN 1
          ELSE 0
        END
      END
    END AS "c7"
  FROM (
    SELECT
      *
    FROM "people" "t0"
  ) "t1"
) "t2"
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
