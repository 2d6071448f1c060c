"""Lets readers of SQLite files continue during writes. Arguments: the files."""
import sqlite3
import sys

for file in sys.argv[1:]:
    connection = sqlite3.connect(file)
    connection.execute("pragma journal_mode=wal")
    connection.close()
