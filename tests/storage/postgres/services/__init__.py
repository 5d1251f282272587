"""What stands on a store, once more, on PostgreSQL: the tests of these services with that store in place of theirs."""
