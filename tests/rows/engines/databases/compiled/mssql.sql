WITH [understudy_rows] AS (
  SELECT
    [t0].[whole],
    [t0].[real],
    [t0].[text],
    [t0].[day],
    [t0].[moment],
    [t0].[flag],
    [t0].[listed],
    [t0].[amount]
  FROM [people] AS [t0]
)
SELECT
  [t4].[c0],
  [t4].[c1],
  [t4].[c2],
  [t4].[c3],
  [t4].[c4],
  [t4].[c5],
  [t4].[c6],
  [t4].[c7]
FROM (
  SELECT
    CASE
      WHEN (
        [t3].[whole] IS NULL
      )
      OR (
        (
          [t3].[whole] >= -1
        ) AND (
          IIF([t3].[whole] >= 0, 1, 0) = 0
        )
      )
      THEN 10
      ELSE CASE
        WHEN IIF([t3].[whole] >= 0, 1, 0) = 0
        THEN 0
        WHEN [t3].[whole] >= 9
        THEN 9
        ELSE CAST([t3].[whole] - 0 AS INTEGER)
      END
    END AS [c0],
    CASE
      WHEN [t3].[real] IS NULL
      THEN CAST(NULL AS INTEGER)
      WHEN (
        IIF([t3].[real] >= CAST(N'0.0' AS FLOAT), 1, 0) = 0
      )
      OR (
        [t3].[real] > CAST(N'1.0' AS FLOAT)
      )
      THEN CAST(NULL AS INTEGER)
      ELSE IIF(
        [t3].[real] >= CAST(N'0.1' AS FLOAT),
        IIF([t3].[real] >= CAST(N'0.7' AS FLOAT), 2, 1),
        0
      )
    END AS [c1],
    IIF(
      [t3].[text] IS NULL,
      CAST(NULL AS INTEGER),
      CASE SUBSTRING(
          [t3].[text],
          IIF(
            (
              (
                (
                  LEN(
                    N'A' + SUBSTRING(
                      TRANSLATE(
                        IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                        N'	
                  　',
                        N'                             '
                      ),
                      IIF(
                        (
                          1 + 1
                        ) >= 1,
                        1 + 1,
                        1 + 1 + LEN(
                          TRANSLATE(
                            IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                            N'	
                  　',
                            N'                             '
                          )
                        )
                      ),
                      LEN(
                        TRANSLATE(
                          IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                          N'	
                  　',
                          N'                             '
                        )
                      )
                    ) + N'Z'
                  ) - 2
                ) - (
                  LEN(
                    N'A' + TRIM(LEADING N' 	
' FROM SUBSTRING(
                      TRANSLATE(
                        IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                        N'	
                  　',
                        N'                             '
                      ),
                      IIF(
                        (
                          1 + 1
                        ) >= 1,
                        1 + 1,
                        1 + 1 + LEN(
                          TRANSLATE(
                            IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                            N'	
                  　',
                            N'                             '
                          )
                        )
                      ),
                      LEN(
                        TRANSLATE(
                          IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                          N'	
                  　',
                          N'                             '
                        )
                      )
                    )) + N'Z'
                  ) - 2
                )
              ) + 1
            ) >= 1,
            (
              (
                LEN(
                  N'A' + SUBSTRING(
                    TRANSLATE(
                      IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                      N'	
                  　',
                      N'                             '
                    ),
                    IIF(
                      (
                        1 + 1
                      ) >= 1,
                      1 + 1,
                      1 + 1 + LEN(
                        TRANSLATE(
                          IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                          N'	
                  　',
                          N'                             '
                        )
                      )
                    ),
                    LEN(
                      TRANSLATE(
                        IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                        N'	
                  　',
                        N'                             '
                      )
                    )
                  ) + N'Z'
                ) - 2
              ) - (
                LEN(
                  N'A' + TRIM(LEADING N' 	
' FROM SUBSTRING(
                    TRANSLATE(
                      IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                      N'	
                  　',
                      N'                             '
                    ),
                    IIF(
                      (
                        1 + 1
                      ) >= 1,
                      1 + 1,
                      1 + 1 + LEN(
                        TRANSLATE(
                          IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                          N'	
                  　',
                          N'                             '
                        )
                      )
                    ),
                    LEN(
                      TRANSLATE(
                        IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                        N'	
                  　',
                        N'                             '
                      )
                    )
                  )) + N'Z'
                ) - 2
              )
            ) + 1,
            (
              (
                LEN(
                  N'A' + SUBSTRING(
                    TRANSLATE(
                      IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                      N'	
                  　',
                      N'                             '
                    ),
                    IIF(
                      (
                        1 + 1
                      ) >= 1,
                      1 + 1,
                      1 + 1 + LEN(
                        TRANSLATE(
                          IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                          N'	
                  　',
                          N'                             '
                        )
                      )
                    ),
                    LEN(
                      TRANSLATE(
                        IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                        N'	
                  　',
                        N'                             '
                      )
                    )
                  ) + N'Z'
                ) - 2
              ) - (
                LEN(
                  N'A' + TRIM(LEADING N' 	
' FROM SUBSTRING(
                    TRANSLATE(
                      IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                      N'	
                  　',
                      N'                             '
                    ),
                    IIF(
                      (
                        1 + 1
                      ) >= 1,
                      1 + 1,
                      1 + 1 + LEN(
                        TRANSLATE(
                          IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                          N'	
                  　',
                          N'                             '
                        )
                      )
                    ),
                    LEN(
                      TRANSLATE(
                        IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                        N'	
                  　',
                        N'                             '
                      )
                    )
                  )) + N'Z'
                ) - 2
              )
            ) + 1 + LEN([t3].[text])
          ),
          (
            LEN(
              N'A' + TRIM(N' 	
' FROM SUBSTRING(
                TRANSLATE(
                  IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                  N'	
                  　',
                  N'                             '
                ),
                IIF(
                  (
                    1 + 1
                  ) >= 1,
                  1 + 1,
                  1 + 1 + LEN(
                    TRANSLATE(
                      IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                      N'	
                  　',
                      N'                             '
                    )
                  )
                ),
                LEN(
                  TRANSLATE(
                    IIF(N'.' IS NULL OR [t3].[text] IS NULL, NULL, N'.' + [t3].[text]),
                    N'	
                  　',
                    N'                             '
                  )
                )
              )) + N'Z'
            ) - 2
          )
        )
        WHEN N'a'
        THEN 0
        WHEN N'B'
        THEN 1
        WHEN N'it''s'
        THEN 2
        WHEN N'female'
        THEN 3
        WHEN N'vav'
        THEN 4
        WHEN N'narrator'
        THEN 5
        WHEN N'batb'
        THEN 6
        WHEN N'ab'
        THEN 7
        ELSE CAST(NULL AS INTEGER)
      END
    ) AS [c2],
    CASE
      WHEN [t3].[day] IS NULL
      THEN CAST(NULL AS INTEGER)
      ELSE IIF(
        [t3].[day] >= DATEFROMPARTS(2020, 7, 2),
        IIF([t3].[day] >= DATEFROMPARTS(2020, 10, 1), 3, 2),
        IIF([t3].[day] >= DATEFROMPARTS(2020, 4, 1), 1, 0)
      )
    END AS [c3],
    CASE
      WHEN [t3].[moment] IS NULL
      THEN CAST(NULL AS INTEGER)
      ELSE IIF(
        [t3].[moment] >= DATETIME2FROMPARTS(2020, 5, 2, 0, 0, 0, 0, 6),
        IIF([t3].[moment] >= DATETIME2FROMPARTS(2020, 9, 1, 0, 0, 0, 0, 6), 2, 1),
        0
      )
    END AS [c4],
    IIF([t3].[flag] IS NULL, CAST(NULL AS INTEGER), IIF([t3].[flag] <> 0, 1, 0)) AS [c5],
    IIF(
      [t3].[listed] IS NULL,
      CAST(NULL AS INTEGER),
      CASE [t3].[listed]
        WHEN 1
        THEN 0
        WHEN 2
        THEN 1
        WHEN 5
        THEN 2
        ELSE CASE CAST([t3].[listed] AS FLOAT)
          WHEN CAST(N'1.0' AS FLOAT)
          THEN 0
          WHEN CAST(N'2.0' AS FLOAT)
          THEN 1
          WHEN CAST(N'5.0' AS FLOAT)
          THEN 2
          ELSE CAST(NULL AS INTEGER)
        END
      END
    ) AS [c6],
    CASE
      WHEN [t3].[amount] IS NULL
      THEN CAST(NULL AS INTEGER)
      ELSE IIF(
        CAST([t3].[amount] AS FLOAT) >= CAST(N'4.0' AS FLOAT),
        IIF(
          CAST([t3].[amount] AS FLOAT) >= CAST(N'6.0' AS FLOAT),
          IIF(CAST([t3].[amount] AS FLOAT) >= CAST(N'8.0' AS FLOAT), 4, 3),
          2
        ),
        IIF(CAST([t3].[amount] AS FLOAT) >= CAST(N'2.0' AS FLOAT), 1, 0)
      )
    END AS [c7]
  FROM (
    SELECT
      [whole],
      [real],
      [text] COLLATE Latin1_General_100_BIN2_UTF8 AS [text],
      [day],
      [moment],
      [flag],
      [listed],
      [amount]
    FROM understudy_rows
  ) AS [t3]
) AS [t4]
WHERE
  [t4].[c1] IS NOT NULL
  AND [t4].[c2] IS NOT NULL
  AND [t4].[c3] IS NOT NULL
  AND [t4].[c4] IS NOT NULL
  AND [t4].[c5] IS NOT NULL
  AND [t4].[c6] IS NOT NULL
  AND [t4].[c7] IS NOT NULL
;
SELECT "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", COUNT(*) FROM encoded GROUP BY GROUPING SETS ((), ("c0"), ("c1", "c2"), ("c3", "c4"), ("c2"), ("c5", "c6", "c7"))
