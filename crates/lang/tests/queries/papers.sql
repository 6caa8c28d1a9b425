-- paper(paperId number, title text, venueId number, year number, numCiting number, numCitedBy number, journalId number)
-- author(authorId number, authorName text)
-- writes(paperId number, authorId number)
-- cite(citingPaperId number, citedPaperId number)
-- venue(venueId number, venueName text)
-- keyphrase(keyphraseId number, keyphraseName text)
-- paperKeyphrase(paperId number, keyphraseId number)

SELECT DISTINCT PAPERalias0.PAPERID FROM KEYPHRASE AS KEYPHRASEalias0 , PAPER AS PAPERalias0 , PAPERKEYPHRASE AS PAPERKEYPHRASEalias0 , VENUE AS VENUEalias0 WHERE KEYPHRASEalias0.KEYPHRASENAME = "deep learning" AND PAPERKEYPHRASEalias0.KEYPHRASEID = KEYPHRASEalias0.KEYPHRASEID AND PAPERalias0.PAPERID = PAPERKEYPHRASEalias0.PAPERID AND PAPERalias0.YEAR = 2014 AND VENUEalias0.VENUEID = PAPERalias0.VENUEID AND VENUEalias0.VENUENAME = "ICML" ;
SELECT DISTINCT COUNT( PAPERalias0.PAPERID ) , WRITESalias0.AUTHORID FROM PAPER AS PAPERalias0 , VENUE AS VENUEalias0 , WRITES AS WRITESalias0 WHERE VENUEalias0.VENUEID = PAPERalias0.VENUEID AND VENUEalias0.VENUENAME = "CVPR" AND WRITESalias0.PAPERID = PAPERalias0.PAPERID GROUP BY WRITESalias0.AUTHORID ORDER BY COUNT( PAPERalias0.PAPERID ) DESC ;
SELECT DISTINCT AUTHORalias1.AUTHORID FROM AUTHOR AS AUTHORalias0 , AUTHOR AS AUTHORalias1 , WRITES AS WRITESalias0 , WRITES AS WRITESalias1 WHERE AUTHORalias0.AUTHORNAME = "noah a smith" AND WRITESalias0.AUTHORID = AUTHORalias0.AUTHORID AND WRITESalias1.PAPERID = WRITESalias0.PAPERID AND AUTHORalias1.AUTHORID = WRITESalias1.AUTHORID ;
SELECT DISTINCT CITEalias0.CITEDPAPERID , COUNT( DISTINCT CITEalias0.CITINGPAPERID ) FROM CITE AS CITEalias0 GROUP BY CITEalias0.CITEDPAPERID HAVING COUNT( DISTINCT CITEalias0.CITINGPAPERID ) > 100 ORDER BY COUNT( DISTINCT CITEalias0.CITINGPAPERID ) DESC LIMIT 10 ;
SELECT COUNT( DISTINCT PAPERalias0.TITLE ) FROM PAPER AS PAPERalias0 WHERE PAPERalias0.YEAR > 2000 AND PAPERalias0.YEAR <= 2010 ;
SELECT DERIVED_TABLEalias0.AUTHORID FROM ( SELECT WRITESalias0.AUTHORID , COUNT( * ) AS DERIVED_FIELDalias0 FROM WRITES AS WRITESalias0 GROUP BY WRITESalias0.AUTHORID ) AS DERIVED_TABLEalias0 , ( SELECT AVG( DERIVED_TABLEalias2.DERIVED_FIELDalias1 ) AS DERIVED_FIELDalias2 FROM ( SELECT COUNT( * ) AS DERIVED_FIELDalias1 FROM WRITES AS WRITESalias1 GROUP BY WRITESalias1.AUTHORID ) AS DERIVED_TABLEalias2 ) AS DERIVED_TABLEalias1 WHERE DERIVED_TABLEalias0.DERIVED_FIELDalias0 > DERIVED_TABLEalias1.DERIVED_FIELDalias2 ;
SELECT DISTINCT WRITESalias0.PAPERID FROM WRITES AS WRITESalias0 WHERE WRITESalias0.PAPERID NOT IN ( SELECT CITEalias0.CITEDPAPERID FROM CITE AS CITEalias0 ) ;
SELECT t1.title FROM paper t1 WHERE t1.numCitedBy > (SELECT avg(t2.numCitedBy) FROM paper t2 WHERE t2.year = t1.year AND t2.venueId = (SELECT v.venueId FROM venue v WHERE v.venueId = t1.venueId))
SELECT p.title FROM paper AS p WHERE (SELECT count(*) FROM cite AS c, paper AS p WHERE c.citedPaperId = p.paperId) > 10
SELECT title FROM paper p WHERE EXISTS (SELECT * FROM paper q WHERE q.year = p.year AND EXISTS (SELECT * FROM paper r WHERE r.venueId = p.venueId AND r.year = q.year))
SELECT year FROM paper GROUP BY year HAVING count(*) = (SELECT count(*) FROM paper GROUP BY year ORDER BY count(*) DESC LIMIT 1)
SELECT authorName FROM author WHERE authorId IN (SELECT authorId FROM writes GROUP BY authorId HAVING count(*) > 10) ORDER BY authorName
SELECT a.authorName, count(*) AS papers FROM author a JOIN writes w ON w.authorId = a.authorId JOIN paper p ON p.paperId = w.paperId WHERE p.year BETWEEN 2010 AND 2015 GROUP BY a.authorId, a.authorName ORDER BY papers DESC, a.authorName ASC LIMIT 5
SELECT title FROM paper WHERE title LIKE '%neural%' AND title NOT LIKE '%network%'
SELECT title FROM paper ORDER BY numCitedBy * 1.0 / (2020 - year) DESC LIMIT 10
SELECT w1.authorId, w2.authorId FROM writes w1 JOIN writes w2 ON w1.paperId = w2.paperId AND w1.authorId < w2.authorId GROUP BY w1.authorId, w2.authorId ORDER BY count(*) DESC LIMIT 1
SELECT venueName FROM venue WHERE venueId = (SELECT venueId FROM paper WHERE title = "What's up?" AND year = 2001)
SELECT year, count(*) FROM paper WHERE venueId IN (SELECT venueId FROM venue WHERE venueName = 'ACL' UNION SELECT venueId FROM venue WHERE venueName = 'EMNLP') GROUP BY year
SELECT max(n) - min(n) FROM (SELECT count(*) n FROM paper GROUP BY year) t
SELECT x.year FROM paper x GROUP BY x.year ORDER BY sum(x.numCiting) / count(*) DESC, x.year ASC
SELECT title FROM paper EXCEPT SELECT title FROM paper WHERE year < 2000 EXCEPT SELECT title FROM paper WHERE year > 2010 ORDER BY 1 LIMIT 4
SELECT p.title, v.venueName FROM paper p LEFT OUTER JOIN venue v ON p.venueId = v.venueId
SELECT count(*) FROM writes a, writes b, writes c, writes d WHERE a.paperId = b.paperId AND b.authorId = c.authorId AND c.paperId = d.paperId AND d.authorId = 5
SELECT b.y FROM (SELECT year AS y FROM paper) a, (SELECT year AS y FROM paper) b WHERE a.y < b.y
SELECT title FROM paper WHERE year = 2014 AND venueId IS NOT NULL AND numCiting = 0
SELECT DISTINCT a.authorName FROM author a INNER JOIN writes w ON a.authorId = w.authorId INNER JOIN cite c ON w.paperId = c.citedPaperId INNER JOIN writes w2 ON c.citingPaperId = w2.paperId WHERE w2.authorId = 7 AND a.authorId <> 7
