"""Play the adversary: one attack a file, each with what was known, how hard it was, who fell, a control and a baseline."""
