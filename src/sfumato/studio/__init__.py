"""The decision desk as a web page on this machine: pages over the same library, closed to everybody else."""
