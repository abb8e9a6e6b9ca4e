"""Tables and arrays in and out: samples, labels, and fitted models."""
