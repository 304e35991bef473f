"""Everything that publishes: figures and their style, findings, the record of both, the batch
command, the site."""
