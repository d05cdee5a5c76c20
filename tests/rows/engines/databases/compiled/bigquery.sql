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
    END AS `c4`
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
;
SELECT `c0`, `c1`, `c2`, `c3`, `c4`, COUNT(*) FROM encoded GROUP BY GROUPING SETS ((), (`c0`), (`c1`, `c2`), (`c3`, `c4`), (`c2`))
