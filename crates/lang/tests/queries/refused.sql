-- state(name text, area number, founded time)

unknown name: river | SELECT * FROM river
unknown name: length | SELECT length FROM state
unknown name: s.length | SELECT s.length FROM state AS s
unknown name: state.name | SELECT state.name FROM state AS s
unknown name: name (more than one column has this name) | SELECT name FROM state AS a, state AS b
not one SELECT statement | DELETE FROM state
not one SELECT statement | SELECT 1; SELECT 2
not one SELECT statement | DROP TABLE state
type error: a number is compared with the word 'texas' | SELECT name FROM state WHERE area = 'texas'
type error: a number is compared with the word 'big' | SELECT name FROM state WHERE 'big' < area
type error: a number is compared with the word 'b' | SELECT name FROM state WHERE area IN (1, 'b')
type error: a number is compared with the word 'b' | SELECT name FROM state WHERE area BETWEEN 1 AND 'b'
type error: a number is compared with the word 'b' | SELECT name FROM state WHERE count(*) = 'b'
type error: a number is compared with the word 'b' | SELECT a.name FROM state a WHERE EXISTS (SELECT 1 FROM state b WHERE a.area = 'b')
type error: SUM of text | SELECT sum(name) FROM state
type error: AVG of text | SELECT avg(lower(name)) FROM state
type error: `+` of the word 'b' | SELECT area + 'b' FROM state
not supported: RIGHT JOIN | SELECT a.name FROM state a RIGHT JOIN state b ON a.area = b.area
not supported: WITH RECURSIVE | WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x
not supported: FILTER or OVER | SELECT rank() OVER (ORDER BY area) FROM state
not supported: the function sqlite_version | SELECT sqlite_version() FROM state
not supported: COLLATE | SELECT name FROM state ORDER BY name COLLATE NOCASE
not supported: ALL and ANY, which SQLite does not have | SELECT name FROM state WHERE area > ALL (SELECT area FROM state)
not supported: HAVING without GROUP BY | SELECT max(area) FROM state HAVING count(*) > 1
not supported: a row of several values | SELECT name FROM state WHERE (name, area) IN (SELECT name, area FROM state)
not supported: a comparison of two constants | SELECT name FROM state WHERE 1 = 1
