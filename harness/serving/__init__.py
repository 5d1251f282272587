"""What every server of the harness does alike: listening, letting in, telling a failure."""
