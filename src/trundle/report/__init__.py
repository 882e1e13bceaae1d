"""What a person asks about an evolution: change tables, statistics, suggestions, maps, explanations."""
