"""Import names that replace those of other memory systems; each module only re-exports."""
