"""What a notebook or two need and no user does: one file per paper or companion notebook."""
