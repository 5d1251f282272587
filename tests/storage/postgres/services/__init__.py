"""Tests of the services on PostgreSQL: the same tests with another store."""
