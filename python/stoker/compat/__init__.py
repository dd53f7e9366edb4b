"""Names of other projects over stoker: a program written for one of them changes its imports and nothing else."""
