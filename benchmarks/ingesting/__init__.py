"""The measurements of the ingestion benchmark, one module for each question."""
