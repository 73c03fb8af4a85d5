DROP ALL OBJECTS;
CREATE TABLE customer (id INT PRIMARY KEY, region INT, name VARCHAR(40));
CREATE TABLE item (id INT PRIMARY KEY, customer INT, price INT, due INT);
INSERT INTO customer SELECT x, MOD(x * 31, 17), 'name ' || MOD(x * 7919, 1000) FROM SYSTEM_RANGE(1, 2000);
INSERT INTO item SELECT x, MOD(x * 7919, 2000) + 1, MOD(x * 104729, 9973), MOD(x, 365)
    FROM SYSTEM_RANGE(1, 20000);
CREATE INDEX item_customer ON item (customer);
SELECT c.region, COUNT(*), SUM(i.price) FROM item i JOIN customer c ON c.id = i.customer
    GROUP BY c.region ORDER BY 3 DESC;
SELECT i.due, AVG(i.price) FROM item i GROUP BY i.due HAVING AVG(i.price) > 4000 ORDER BY i.due;
UPDATE item SET price = price + 1 WHERE MOD(due, 7) = 3;
SELECT c.name, MAX(i.price) FROM customer c JOIN item i ON i.customer = c.id WHERE c.name LIKE '%99%'
    GROUP BY c.name ORDER BY c.name;
DELETE FROM item WHERE MOD(id, 5) = 0
