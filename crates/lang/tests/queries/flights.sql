-- flight(flight_id number, airline_code text, from_airport text, to_airport text, departure_time number, arrival_time number, stops number, flight_days text, connections number)
-- airport(airport_code text, airport_name text, city_code text)
-- airport_service(city_code text, airport_code text, miles_distant number)
-- city(city_code text, city_name text, state_code text)
-- fare(fare_id number, one_direction_cost number, round_trip_cost text, fare_basis_code text)
-- flight_fare(flight_id number, fare_id number)
-- days(days_code text, day_name text)
-- date_day(day_number number, month_number number, year number, day_name text)
-- restaurant(restaurant_id number, name text, food_type text, city_name text, rating number)
-- location(restaurant_id number, house_number number, street_name text, city_name text)

SELECT DISTINCT FLIGHTalias0.FLIGHT_ID FROM AIRPORT_SERVICE AS AIRPORT_SERVICEalias0 , AIRPORT_SERVICE AS AIRPORT_SERVICEalias1 , CITY AS CITYalias0 , CITY AS CITYalias1 , FLIGHT AS FLIGHTalias0 WHERE CITYalias0.CITY_CODE = AIRPORT_SERVICEalias0.CITY_CODE AND CITYalias0.CITY_NAME = "BOSTON" AND CITYalias1.CITY_CODE = AIRPORT_SERVICEalias1.CITY_CODE AND CITYalias1.CITY_NAME = "DENVER" AND FLIGHTalias0.FROM_AIRPORT = AIRPORT_SERVICEalias0.AIRPORT_CODE AND FLIGHTalias0.TO_AIRPORT = AIRPORT_SERVICEalias1.AIRPORT_CODE ;
SELECT DISTINCT FLIGHTalias0.FLIGHT_ID FROM DATE_DAY AS DATE_DAYalias0 , DAYS AS DAYSalias0 , FLIGHT AS FLIGHTalias0 WHERE ( ( ( FLIGHTalias0.ARRIVAL_TIME < 41 OR FLIGHTalias0.TO_AIRPORT = "X" ) AND DATE_DAYalias0.DAY_NUMBER = 23 ) AND DATE_DAYalias0.MONTH_NUMBER = 4 AND DATE_DAYalias0.YEAR = 1991 AND DAYSalias0.DAY_NAME = DATE_DAYalias0.DAY_NAME AND FLIGHTalias0.FLIGHT_DAYS = DAYSalias0.DAYS_CODE ) ;
SELECT DISTINCT FLIGHTalias0.FLIGHT_ID FROM FARE AS FAREalias0 , FLIGHT AS FLIGHTalias0 , FLIGHT_FARE AS FLIGHT_FAREalias0 WHERE FAREalias0.ONE_DIRECTION_COST = ( SELECT MIN( FAREalias1.ONE_DIRECTION_COST ) FROM FARE AS FAREalias1 , FLIGHT AS FLIGHTalias1 , FLIGHT_FARE AS FLIGHT_FAREalias1 WHERE FLIGHT_FAREalias1.FARE_ID = FAREalias1.FARE_ID AND FLIGHTalias1.FLIGHT_ID = FLIGHT_FAREalias1.FLIGHT_ID AND FLIGHTalias1.DEPARTURE_TIME BETWEEN 0 AND 1200 ) AND FLIGHT_FAREalias0.FARE_ID = FAREalias0.FARE_ID AND FLIGHTalias0.FLIGHT_ID = FLIGHT_FAREalias0.FLIGHT_ID ;
SELECT DISTINCT COUNT( DISTINCT FLIGHTalias0.FLIGHT_ID ) FROM FLIGHT AS FLIGHTalias0 WHERE FLIGHTalias0.AIRLINE_CODE = "DL" AND NOT FLIGHTalias0.STOPS > 0 ;
SELECT flight_id FROM flight WHERE NOT (departure_time >= 800 AND departure_time <= 1000) OR connections = 0
SELECT flight_id FROM flight WHERE 1200 BETWEEN departure_time AND arrival_time
SELECT LOCATIONalias0.HOUSE_NUMBER , RESTAURANTalias0.NAME FROM LOCATION AS LOCATIONalias0 , RESTAURANT AS RESTAURANTalias0 WHERE LOCATIONalias0.CITY_NAME = "san francisco" AND RESTAURANTalias0.FOOD_TYPE = "french" AND RESTAURANTalias0.RESTAURANT_ID = LOCATIONalias0.RESTAURANT_ID AND RESTAURANTalias0.RATING > 2.5 ;
SELECT COUNT( * ) FROM LOCATION AS LOCATIONalias0 , RESTAURANT AS RESTAURANTalias0 WHERE LOCATIONalias0.STREET_NAME = "buchanan" AND RESTAURANTalias0.RESTAURANT_ID = LOCATIONalias0.RESTAURANT_ID ;
SELECT name FROM restaurant WHERE rating = (SELECT max(rating) FROM restaurant WHERE city_name = 'palo alto') AND city_name = 'palo alto' ORDER BY name
SELECT city_name FROM restaurant GROUP BY city_name ORDER BY avg(rating) DESC LIMIT 1
SELECT fare_basis_code FROM fare WHERE round_trip_cost > 500 OR round_trip_cost = 300
SELECT f.flight_id FROM flight f WHERE f.from_airport = 'BOS' AND f.airline_code IN ('DL', 'AA') AND f.departure_time > 1200 UNION SELECT g.flight_id FROM flight g WHERE g.stops = 0
SELECT c.city_name FROM city c JOIN airport_service s ON s.city_code = c.city_code JOIN airport a ON a.airport_code = s.airport_code WHERE a.airport_name LIKE 'general%' AND s.miles_distant < 30
SELECT airline_code, count(*) FROM flight WHERE from_airport = 'BOS' GROUP BY airline_code HAVING count(*) > 10 AND min(departure_time) < 700 ORDER BY count(*) DESC, airline_code
SELECT count(*) FROM flight WHERE flight_days LIKE '%1%' AND (stops = 0 OR stops IS NULL)
SELECT f1.flight_id, f2.flight_id FROM flight AS f1 JOIN flight AS f2 ON f1.to_airport = f2.from_airport AND f1.arrival_time + 30 <= f2.departure_time
