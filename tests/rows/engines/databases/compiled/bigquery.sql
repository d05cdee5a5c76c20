SELECT
  *
FROM (
  SELECT
    CASE
      WHEN (
        `t1`.`whole` IS NULL
      )
      OR (
        (
          `t1`.`whole` >= -1
        ) AND NOT (
          `t1`.`whole` >= 0
        )
      )
      THEN 10
      ELSE CASE
        WHEN NOT (
          `t1`.`whole` >= 0
        )
        THEN 0
        WHEN `t1`.`whole` >= 9
        THEN 9
        ELSE CAST(`t1`.`whole` - 0 AS INT64)
      END
    END AS `c0`,
    CASE
      WHEN (
        `t1`.`real` IS NULL
      ) OR IS_NAN(`t1`.`real`)
      THEN CAST(NULL AS INT64)
      WHEN NOT (
        `t1`.`real` >= CAST('0.0' AS FLOAT64)
      )
      OR (
        `t1`.`real` > CAST('1.0' AS FLOAT64)
      )
      THEN CAST(NULL AS INT64)
      ELSE IF(
        `t1`.`real` >= CAST('0.1' AS FLOAT64),
        IF(`t1`.`real` >= CAST('0.7' AS FLOAT64), 2, 1),
        0
      )
    END AS `c1`,
    IF(
      `t1`.`text` IS NULL,
      CAST(NULL AS INT64),
      CASE TRIM(`t1`.`text`, '\t\n\v\f\r                  　')
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
        WHEN 'a\vb'
        THEN 7
        ELSE CAST(NULL AS INT64)
      END
    ) AS `c2`,
    CASE
      WHEN `t1`.`day` IS NULL
      THEN CAST(NULL AS INT64)
      ELSE IF(
        `t1`.`day` >= DATE(2020, 7, 2),
        IF(`t1`.`day` >= DATE(2020, 10, 1), 3, 2),
        IF(`t1`.`day` >= DATE(2020, 4, 1), 1, 0)
      )
    END AS `c3`,
    CASE
      WHEN `t1`.`moment` IS NULL
      THEN CAST(NULL AS INT64)
      ELSE IF(
        `t1`.`moment` >= DATETIME('2020-05-02T00:00:00'),
        IF(`t1`.`moment` >= DATETIME('2020-09-01T00:00:00'), 2, 1),
        0
      )
    END AS `c4`,
    IF(`t1`.`flag` IS NULL, CAST(NULL AS INT64), IF(`t1`.`flag`, 1, 0)) AS `c5`,
    IF(
      `t1`.`listed` IS NULL,
      CAST(NULL AS INT64),
      CASE `t1`.`listed`
        WHEN 1
        THEN 0
        WHEN 2
        THEN 1
        WHEN 5
        THEN 2
        ELSE IF(
          IS_NAN(CAST(`t1`.`listed` AS FLOAT64)),
          CAST(NULL AS INT64),
          CASE CAST(`t1`.`listed` AS FLOAT64)
            WHEN CAST('1.0' AS FLOAT64)
            THEN 0
            WHEN CAST('2.0' AS FLOAT64)
            THEN 1
            WHEN CAST('5.0' AS FLOAT64)
            THEN 2
            ELSE CAST(NULL AS INT64)
          END
        )
      END
    ) AS `c6`,
    CASE
      WHEN (
        `t1`.`amount` IS NULL
      ) OR IS_NAN(CAST(`t1`.`amount` AS FLOAT64))
      THEN CAST(NULL AS INT64)
      ELSE IF(
        CAST(`t1`.`amount` AS FLOAT64) >= CAST('4.0' AS FLOAT64),
        IF(
          CAST(`t1`.`amount` AS FLOAT64) >= CAST('6.0' AS FLOAT64),
          IF(CAST(`t1`.`amount` AS FLOAT64) >= CAST('8.0' AS FLOAT64), 4, 3),
          2
        ),
        IF(CAST(`t1`.`amount` AS FLOAT64) >= CAST('2.0' AS FLOAT64), 1, 0)
      )
    END AS `c7`
  FROM (
    SELECT
      *
    FROM `people` AS `t0`
  ) AS `t1`
) AS `t2`
WHERE
  `t2`.`c1` IS NOT NULL
  AND `t2`.`c2` IS NOT NULL
  AND `t2`.`c3` IS NOT NULL
  AND `t2`.`c4` IS NOT NULL
  AND `t2`.`c5` IS NOT NULL
  AND `t2`.`c6` IS NOT NULL
  AND `t2`.`c7` IS NOT NULL
;
SELECT `c0`, `c1`, `c2`, `c3`, `c4`, `c5`, `c6`, `c7`, COUNT(*) FROM encoded GROUP BY GROUPING SETS ((), (`c0`), (`c1`, `c2`), (`c3`, `c4`), (`c2`), (`c5`, `c6`, `c7`))
