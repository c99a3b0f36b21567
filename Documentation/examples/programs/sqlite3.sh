#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs in the guest: records the shell of SQLite.
set -eu

cd /tmp
# The error of one statement makes the status of the shell 1.
status=0
posixtrace record -o log -- sqlite3 shop.db >output 2>errors <<'END_OF_SQL' || status=$?
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL);
INSERT INTO item VALUES(1, 'apple', 0.5), (2, 'pear', 0.7), (3, 'plum', 0.2);
SELECT name FROM item WHERE price < 0.6 ORDER BY name;
SELECT colour FROM item;
BEGIN;
DELETE FROM item;
ROLLBACK;
WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO item SELECT i, 'item number ' || i, i / 10.0 FROM n;
.open shop.db
SELECT count(*), max(price) FROM item;
PRAGMA journal_mode=WAL;
UPDATE item SET price = price * 2 WHERE id <= 3;
END_OF_SQL
cat errors >&2
[ "$status" -eq 1 ]
tar -czf - log output | base64 | sed 's/^/file /' >/dev/report
