"""What users write with: function workflows, once, each, the session of a body."""
