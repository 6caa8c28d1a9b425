-- Customers(Customer_ID number, Customer_Name text, email_address text, date_became_customer time, Is_VIP boolean)
-- Orders(Order_ID number, Customer_ID number, Order_Date time, Order_Status text, "Total Amount" number)
-- Order_Items(Item_ID number, Order_ID number, Product_ID number, Quantity number)
-- Products(Product_ID number, Product_Name text, Price number, Product_Type text, Weight_kg number, "group" text)
-- shops(Shop_ID number, Name text, City text, Opened number, Score other)
-- Stock(Shop_ID number, Product_ID number, Amount number)

SELECT count(*) FROM Customers
SELECT Customer_Name , email_address FROM Customers ORDER BY email_address , Customer_Name DESC
SELECT T1.Customer_Name FROM Customers AS T1 JOIN Orders AS T2 ON T1.Customer_ID = T2.Customer_ID GROUP BY T2.Customer_ID ORDER BY count(*) DESC LIMIT 1
SELECT T2.Customer_Name , count(*) FROM Orders AS T1 JOIN Customers AS T2 ON T1.Customer_ID = T2.Customer_ID GROUP BY T1.Customer_ID
SELECT DISTINCT T3.Product_Name FROM Orders AS T1 JOIN Order_Items AS T2 JOIN Products AS T3 ON T1.Order_ID = T2.Order_ID AND T2.Product_ID = T3.Product_ID WHERE T1.Order_Status = "Cancelled"
SELECT Products.Product_Name FROM Products JOIN Order_Items ON Products.Product_ID = Order_Items.Product_ID WHERE Order_Items.Quantity > 5
SELECT avg(Price) , min(Price) , max(Price) FROM Products WHERE Product_Type = "Clothes"
SELECT Product_Name FROM Products WHERE Price < (SELECT avg(Price) FROM Products)
SELECT Product_Type FROM Products GROUP BY Product_Type HAVING avg(Price) > (SELECT avg(Price) FROM Products)
SELECT Product_Type FROM Products GROUP BY Product_Type HAVING count(*) >= 2 ORDER BY Product_Type
SELECT Product_ID FROM Products EXCEPT SELECT Product_ID FROM Order_Items
SELECT Customer_Name FROM Customers WHERE Customer_ID NOT IN ( SELECT Customer_ID FROM Orders )
SELECT T1.Customer_Name FROM Customers AS T1 JOIN Orders AS T2 ON T1.Customer_ID = T2.Customer_ID WHERE T2.Order_Status = "Packing" INTERSECT SELECT T1.Customer_Name FROM Customers AS T1 JOIN Orders AS T2 ON T1.Customer_ID = T2.Customer_ID WHERE T2.Order_Status = "On Road"
SELECT Product_Name FROM Products WHERE Price > 1000 OR Price < 500 UNION SELECT Name FROM shops
SELECT Product_Name FROM Products WHERE Product_Name LIKE "%Dell%" AND Product_Type != "Hardware"
SELECT Product_Name FROM Products WHERE Product_Name <> 'x' AND Price >= 10.50 AND Price <= 20
SELECT sum(T1.Amount) , T2.City FROM Stock AS T1 JOIN shops AS T2 ON T1.Shop_ID = T2.Shop_ID WHERE T2.Opened BETWEEN 2000 AND 2010 GROUP BY T2.City
SELECT City FROM shops WHERE Score = 5
SELECT City FROM shops WHERE Score = 'good' OR Score > 2.5
SELECT sum(Score) FROM shops
SELECT Name FROM shops ORDER BY Score
SELECT "Total Amount" FROM Orders WHERE "Total Amount" > 100
SELECT o."Total Amount" + 1 AS "the sum" FROM Orders o ORDER BY "the sum"
SELECT "group" FROM Products GROUP BY "group"
SELECT Order_Date FROM Orders WHERE Order_Date LIKE '2018-%'
SELECT Order_Status FROM Orders WHERE Order_Date >= '2018-01-01' AND Order_Date < '2018-02-01 10:00:00'
SELECT strftime('%Y', Order_Date) AS year, count(*) AS n FROM Orders GROUP BY year ORDER BY n DESC, year
SELECT T1.Name FROM shops AS T1 WHERE T1.Shop_ID IN (SELECT T2.Shop_ID FROM Stock AS T2 WHERE T2.Amount > 100 AND T2.Product_ID IN (SELECT Product_ID FROM Products WHERE Price > 5))
SELECT count(*) FROM shops WHERE City = 'St. John''s' OR City = "Coeur d'Alene"
SELECT Name , (SELECT count(*) FROM Stock WHERE Stock.Shop_ID = shops.Shop_ID) AS n FROM shops ORDER BY n DESC
SELECT Name FROM shops WHERE (SELECT count(*) FROM Stock WHERE Shop_ID = shops.Shop_ID) > 3
SELECT s.Name FROM shops AS s WHERE s.Opened = (SELECT min(Opened) FROM shops WHERE City = s.City)
SELECT T1.Product_Name FROM Products AS T1 JOIN Products AS T2 ON T1.Product_Type = T2.Product_Type WHERE T2.Product_Name = 'Mouse' AND T1.Product_ID != T2.Product_ID
SELECT Price * 2 , Price / 2 , Price % 2 , Price - 1 FROM Products
SELECT count(DISTINCT Product_Type) , sum(DISTINCT Price) , avg(DISTINCT Price) , max(DISTINCT Price) FROM Products
SELECT Customer_Name FROM Customers WHERE email_address IS NULL OR email_address = ''
SELECT Customer_Name FROM Customers WHERE Is_VIP = 1 AND date_became_customer IS NOT NULL
SELECT Name FROM shops WHERE Name LIKE '_a%' OR Name LIKE '%' OR Name LIKE City
SELECT * FROM Products AS p CROSS JOIN shops AS s
SELECT * FROM Customers, Orders WHERE Customers.Customer_ID = Orders.Customer_ID
SELECT p.*, s.Name FROM Products p, shops s
SELECT *, Price * 2 FROM Products
SELECT Product_Name FROM Products WHERE Weight_kg = (SELECT max(Weight_kg) FROM Products WHERE Product_Type = 'Toys') AND Product_Type = 'Toys' LIMIT 1
SELECT d.n FROM (SELECT count(*) n, City c FROM shops GROUP BY City) d WHERE d.c = 'Oslo'
SELECT x FROM (SELECT Price AS x FROM Products UNION SELECT Amount FROM Stock) WHERE x > 3
SELECT max(n) FROM (SELECT count(*) AS n FROM Orders GROUP BY Customer_ID)
SELECT a.City FROM shops a LEFT JOIN Stock b ON a.Shop_ID = b.Shop_ID LEFT JOIN Products c ON b.Product_ID = c.Product_ID AND c.Price > 3 WHERE c.Product_ID IS NULL
SELECT a.City FROM shops a JOIN Stock b ON a.Shop_ID = b.Shop_ID LEFT JOIN Products c ON b.Product_ID = c.Product_ID
SELECT iif(Price > 10, 'dear', 'cheap') FROM Products
SELECT trim(Name), replace(City, 'a', 'b'), substring(Name, 2) FROM shops
SELECT count(*) = 0 FROM Orders WHERE Order_Status = 'Lost'
SELECT Name FROM shops GROUP BY Name, City HAVING count(*) > 1 AND max(Opened) < 2000
SELECT Order_ID FROM Orders ORDER BY abs("Total Amount" - 100)
SELECT count(1), count(Name) FROM shops
SELECT Name FROM shops WHERE Opened + 10 > 2000 AND -Opened < 0
SELECT group_concat(Name) FROM shops GROUP BY City
SELECT Name FROM shops WHERE Opened IN (SELECT Opened FROM shops GROUP BY Opened HAVING count(*) > 1 ORDER BY Opened LIMIT 3)
SELECT Customer_Name FROM Customers c WHERE 2 <= (SELECT count(*) FROM Orders o WHERE o.Customer_ID = c.Customer_ID AND EXISTS (SELECT 1 FROM Order_Items i WHERE i.Order_ID = o.Order_ID AND i.Quantity > c.Customer_ID))
SELECT Name FROM shops WHERE City = 'a' AND City = 'b' AND (City = 'c' AND (City = 'd' OR (City = 'e' OR City = 'f')))
SELECT Name FROM main.shops WHERE main.shops.City = 'a'
SELECT Product_Name FROM Products ORDER BY Price IS NULL, Price
SELECT nullif(Price, 0) FROM Products
SELECT Name FROM shops WHERE Opened = 1999 OR Opened IS NULL AND NOT City LIKE 'x%'
SELECT DISTINCT Name FROM shops ORDER BY random() LIMIT 1
