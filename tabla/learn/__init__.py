"""What users do with a build and data: training, scoring, number formats, fleets and explorations."""
