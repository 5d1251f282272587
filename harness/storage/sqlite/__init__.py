"""The SQLite store: rows, connections, files, vectors and migrations."""
