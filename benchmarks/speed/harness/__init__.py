"""What the scripts of this folder share: medians of interleaved arms, tables, the null environment, peers' workers."""
