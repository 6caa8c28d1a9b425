-- student(student_id number, lastname text, firstname text, gpa number, entered time, declared boolean, "order" number)
-- course(course_id number, name text, department text, number number, credits number, description text)
-- course_offering(offering_id number, course_id number, semester number, section_number text, start_time time, end_time time, monday text, friday text)
-- semester(semester_id number, semester text, year number)
-- instructor(instructor_id number, name text, uniqname text)
-- offering_instructor(offering_instructor_id number, offering_id number, instructor_id number)
-- student_record(student_id number, course_id number, semester number, grade text, how text)
-- program_course(program_id number, course_id number, category text, workload number)
-- course_prerequisite(pre_course_id number, course_id number)

SELECT COUNT( * ) > 0 FROM COURSE AS COURSEalias0 , COURSE_PREREQUISITE AS COURSE_PREREQUISITEalias0 , COURSE AS COURSEalias1 WHERE COURSEalias0.COURSE_ID = COURSE_PREREQUISITEalias0.PRE_COURSE_ID AND NOT COURSEalias0.COURSE_ID IN ( SELECT STUDENT_RECORDalias0.COURSE_ID FROM STUDENT_RECORD AS STUDENT_RECORDalias0 WHERE STUDENT_RECORDalias0.STUDENT_ID = 1 ) AND COURSEalias1.COURSE_ID = COURSE_PREREQUISITEalias0.COURSE_ID AND COURSEalias1.DEPARTMENT = "EECS" AND COURSEalias1.NUMBER = 595 ;
SELECT DISTINCT COURSEalias0.DEPARTMENT , COURSEalias0.NAME , COURSEalias0.NUMBER FROM COURSE AS COURSEalias0 , COURSE_OFFERING AS COURSE_OFFERINGalias0 , SEMESTER AS SEMESTERalias0 WHERE ( COURSEalias0.DESCRIPTION LIKE "%data mining%" OR COURSEalias0.NAME LIKE "%data mining%" ) AND COURSEalias0.COURSE_ID = COURSE_OFFERINGalias0.COURSE_ID AND SEMESTERalias0.SEMESTER = "WN" AND SEMESTERalias0.SEMESTER_ID = COURSE_OFFERINGalias0.SEMESTER AND SEMESTERalias0.YEAR = 2016 ;
SELECT DERIVED_TABLEalias0.NAME FROM ( SELECT COURSEalias0.NAME , MIN( PROGRAM_COURSEalias0.WORKLOAD ) AS DERIVED_FIELDalias0 FROM COURSE AS COURSEalias0 , PROGRAM_COURSE AS PROGRAM_COURSEalias0 WHERE COURSEalias0.COURSE_ID = PROGRAM_COURSEalias0.COURSE_ID GROUP BY COURSEalias0.NAME ) AS DERIVED_TABLEalias0 WHERE DERIVED_TABLEalias0.DERIVED_FIELDalias0 < 3 ORDER BY DERIVED_TABLEalias0.DERIVED_FIELDalias0 LIMIT 5 ;
SELECT COURSEalias0.NAME FROM COURSE AS COURSEalias0 INNER JOIN PROGRAM_COURSE AS PROGRAM_COURSEalias0 ON COURSEalias0.COURSE_ID = PROGRAM_COURSEalias0.COURSE_ID WHERE PROGRAM_COURSEalias0.WORKLOAD = ( SELECT MIN( PROGRAM_COURSEalias1.WORKLOAD ) FROM PROGRAM_COURSE AS PROGRAM_COURSEalias1 WHERE PROGRAM_COURSEalias1.CATEGORY LIKE "%ULCS%" ) ;
SELECT INSTRUCTORalias0.NAME FROM COURSE_OFFERING AS COURSE_OFFERINGalias0 INNER JOIN COURSE AS COURSEalias0 ON COURSEalias0.COURSE_ID = COURSE_OFFERINGalias0.COURSE_ID INNER JOIN OFFERING_INSTRUCTOR AS OFFERING_INSTRUCTORalias0 ON OFFERING_INSTRUCTORalias0.OFFERING_ID = COURSE_OFFERINGalias0.OFFERING_ID INNER JOIN INSTRUCTOR AS INSTRUCTORalias0 ON OFFERING_INSTRUCTORalias0.INSTRUCTOR_ID = INSTRUCTORalias0.INSTRUCTOR_ID WHERE COURSEalias0.DEPARTMENT = "EECS" AND COURSEalias0.NUMBER = 370 GROUP BY INSTRUCTORalias0.NAME ORDER BY COUNT( DISTINCT COURSE_OFFERINGalias0.SEMESTER ) DESC LIMIT 1 ;
SELECT DISTINCT T1.name FROM course AS T1 JOIN course_prerequisite AS T2 ON T1.course_id = T2.course_id JOIN course AS T3 ON T2.pre_course_id = T3.course_id WHERE T3.name = 'Data Structures'
SELECT lastname, firstname FROM student WHERE gpa = (SELECT max(gpa) FROM student)
SELECT lastname FROM student WHERE gpa > (SELECT avg(gpa) FROM student) ORDER BY gpa DESC, lastname
SELECT count(*) , department FROM course GROUP BY department
SELECT department FROM course GROUP BY department ORDER BY count(*) DESC LIMIT 1
SELECT department FROM course GROUP BY department HAVING count(*) >= 3
SELECT department, avg(credits) AS mean FROM course GROUP BY department HAVING mean > 2 ORDER BY mean
SELECT T1.name FROM course AS T1 WHERE T1.credits > (SELECT avg(T2.credits) FROM course AS T2 WHERE T2.department = T1.department)
SELECT name FROM instructor WHERE instructor_id NOT IN (SELECT instructor_id FROM offering_instructor)
SELECT name FROM instructor EXCEPT SELECT T1.name FROM instructor AS T1 JOIN offering_instructor AS T2 ON T1.instructor_id = T2.instructor_id
SELECT name FROM course WHERE credits = 3 INTERSECT SELECT name FROM course WHERE department = "EECS"
SELECT name FROM course WHERE credits = 3 UNION SELECT name FROM instructor ORDER BY name DESC LIMIT 3
SELECT name AS n FROM course UNION ALL SELECT name FROM instructor ORDER BY n
SELECT * FROM course
SELECT T1.* FROM course AS T1 JOIN program_course AS T2 ON T1.course_id = T2.course_id
SELECT T2.* FROM course AS T1 JOIN course AS T2 ON T1.number < T2.number
SELECT count(DISTINCT department) FROM course
SELECT count(*) FROM (SELECT DISTINCT department FROM course)
SELECT max(credits) - min(credits) FROM course
SELECT sum(T1.credits * T2.workload) / sum(T1.credits) FROM course T1, program_course T2 WHERE T1.course_id = T2.course_id
SELECT name FROM course WHERE credits BETWEEN 2 AND 4
SELECT name FROM course WHERE credits NOT BETWEEN 2 AND 4 AND NOT (department = 'EECS' OR department = 'MATH')
SELECT lastname FROM student WHERE lastname LIKE 'O''N%' OR lastname LIKE "%son" OR firstname NOT LIKE '%x%'
SELECT lastname FROM student WHERE entered IS NULL
SELECT lastname FROM student WHERE entered IS NOT NULL AND declared = 1
SELECT lastname FROM student WHERE declared
SELECT lastname FROM student WHERE NOT declared OR gpa IS NULL
SELECT lastname FROM student WHERE declared = 'true'
SELECT lastname FROM student WHERE EXISTS (SELECT * FROM student_record WHERE student_record.student_id = student.student_id AND grade = 'A')
SELECT lastname FROM student AS s WHERE NOT EXISTS (SELECT 1 FROM student_record AS r WHERE r.student_id = s.student_id)
SELECT "order" FROM student WHERE "order" > 10
SELECT s."order", s.[lastname], s.`firstname` FROM student s ORDER BY 1 DESC, 2
SELECT name FROM course WHERE department IN ('EECS', 'MATH', 'STATS')
SELECT name FROM course WHERE number NOT IN (281, 370)
SELECT CASE WHEN credits > 3 THEN 'big' WHEN credits > 1 THEN 'small' ELSE 'none' END FROM course
SELECT CASE department WHEN 'EECS' THEN 1 ELSE 0 END FROM course
SELECT sum(CASE WHEN grade = 'A' THEN 1 ELSE 0 END) * 100.0 / count(*) FROM student_record
SELECT CAST(count(*) AS FLOAT) / 2 FROM student
SELECT lower(name), upper(department), length(description) FROM course
SELECT substr(uniqname, 1, 3) || '-' || name FROM instructor
SELECT strftime('%Y', entered) FROM student GROUP BY strftime('%Y', entered)
SELECT round(avg(gpa), 2) FROM student
SELECT abs(-5), -gpa, - (gpa + 1) FROM student
SELECT coalesce(grade, 'none'), ifnull(how, 'x') FROM student_record
SELECT s1.lastname FROM student s1, student s2, student s3 WHERE s1.gpa > s2.gpa AND s2.gpa > s3.gpa AND s3.lastname = 'Doe'
WITH best AS (SELECT department, max(credits) AS top FROM course GROUP BY department) SELECT course.name FROM course JOIN best ON course.department = best.department AND course.credits = best.top
WITH a(x) AS (SELECT credits FROM course), b AS (SELECT x FROM a WHERE x > 2) SELECT count(*) FROM b, a WHERE a.x = b.x
SELECT (SELECT count(*) FROM student) - (SELECT count(*) FROM instructor)
SELECT name FROM course LEFT JOIN program_course ON course.course_id = program_course.course_id WHERE program_course.course_id IS NULL
SELECT c.name, count(p.workload) FROM course c LEFT JOIN program_course p USING (course_id) GROUP BY c.course_id
SELECT name FROM course NATURAL JOIN program_course WHERE workload > 3
SELECT lastname FROM student ORDER BY gpa DESC LIMIT 3 OFFSET 2
SELECT lastname FROM student ORDER BY gpa DESC LIMIT 2, 3
SELECT name FROM course WHERE 3 < credits AND 'EECS' = department
SELECT lastname FROM student WHERE entered > '2010-01-01' AND entered < date('now')
SELECT lastname FROM student WHERE julianday('now') - julianday(entered) > 365
SELECT COURSEalias0.NAME FROM COURSE AS COURSEalias0 WHERE COURSEalias0.NUMBER = "595"
SELECT a.name FROM (SELECT * FROM course WHERE credits > 2) AS a WHERE a.department = 'EECS'
SELECT a.name, b.n FROM (SELECT name, department FROM course) AS a JOIN (SELECT department, count(*) AS n FROM course GROUP BY department) AS b ON a.department = b.department
SELECT department FROM course GROUP BY 1 HAVING COUNT(*) = (SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM course GROUP BY department))
