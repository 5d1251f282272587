"""Do two questions have the same answer? Models that say how likely it is."""
