-- Each distinct duration with how often it occurs, by endpoint and status.
COPY (
    SELECT duration_ms AS value, count(*) AS count, endpoint, status
    FROM read_csv('attempts.csv')
    GROUP BY ALL
) TO '/dev/stdout' (FORMAT csv, HEADER);
