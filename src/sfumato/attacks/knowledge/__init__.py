"""What can be learned of people without finding their row: from classes, facts, two releases, a population, the algorithm."""
