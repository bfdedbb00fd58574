"""What makes the documentation site: a hook of MkDocs, and the writers of its generated reference pages."""
