"""Tests of jobs that train elsewhere."""
