"""What judges the library: every judge measures rows, job by job, and tells of them on a page in Markdown."""
