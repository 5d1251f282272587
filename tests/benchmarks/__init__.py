"""Tests of the measurements: their arithmetic, not their figures."""
