-- state(name text, area number, population number, capital text)
-- border(state text, neighbour text)

SELECT s.area FROM state AS s WHERE s.name = "texas" ;
7 SELECT state.area FROM state WHERE state.name = 'texas'
SELECT count(*) FROM state
3 SELECT COUNT(*) FROM state
select NAME from STATE where AREA = (select max(AREA) from STATE)
10 SELECT t1.name FROM state AS t1 WHERE t1.area = (SELECT MAX(t2.area) FROM state AS t2)
SELECT a.name FROM state a JOIN border b ON a.name = b.state WHERE b.neighbour = 'ohio'
13 SELECT state.name FROM state, border WHERE state.name = border.state AND border.neighbour = 'ohio'
SELECT name FROM state ORDER BY area DESC LIMIT 1
7 SELECT state.name FROM state ORDER BY state.area DESC LIMIT 1
SELECT name, area FROM state WHERE NOT name = 'a' AND NOT (capital IS NULL)
13 SELECT state.name, state.area FROM state WHERE state.name <> 'a' AND state.capital IS NOT NULL
SELECT b1.state FROM border b1, border b2 WHERE b1.neighbour = b2.state
10 SELECT t1.state FROM border AS t1, border AS t2 WHERE t1.neighbour = t2.state
SELECT s.name FROM state s WHERE EXISTS (SELECT 1 FROM state t WHERE t.area > s.area)
13 SELECT t1.name FROM state AS t1 WHERE EXISTS (SELECT 1 FROM state AS t2 WHERE t2.area > t1.area)
SELECT n FROM (SELECT count(*) AS n, state FROM border GROUP BY state) WHERE n > 3
12 SELECT t1.c1 FROM (SELECT COUNT(*) AS c1, border.state AS c2 FROM border GROUP BY border.state) AS t1 WHERE t1.c1 > 3
SELECT name FROM state WHERE name LIKE '%new%'
8 SELECT state.name FROM state WHERE state.name LIKE '%new%'
SELECT name FROM state WHERE area + 1 * 2 > population AND (name = 'a' OR name = 'b')
19 SELECT state.name FROM state WHERE (state.area + (1 * 2)) > state.population AND (state.name = 'a' OR state.name = 'b')
