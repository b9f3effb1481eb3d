"""The import names of other memory systems: each module only re-exports what stands elsewhere."""
