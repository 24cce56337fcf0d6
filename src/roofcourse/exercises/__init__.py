"""The exercises of the course, one module for each chapter; the mechanics are in :mod:`roofcourse.exercise`."""
