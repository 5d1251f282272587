"""Pages of the reference, generated from the code: one module for each page or group of pages."""
