"""What is said: published figures, selection, statistics, tables, claims, the study, figures."""
